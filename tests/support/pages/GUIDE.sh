# What docs/GUIDE.md takes as given: a table, sets of images and of answers, all of them small and made up.
# shellcheck shell=bash
ln -s "$ROOT/verifier" "$ROOT/examples" .
. "$ROOT/tests/support/pages/small_cifar10.sh"
sotto data split cifar10 --parts public=260,private=100 -o parts
python3 - <<'END'
import json
import random
import struct

draw = random.Random(1)
with open("survey.csv", "w") as out:
    out.write("age,hours,answer\n" + "".join(f"{draw.randrange(17, 90)},{draw.randrange(60)},{draw.choice(['yes', 'no'])}\n" for _ in range(300)))
with open("location.csv", "w") as out:
    for row in range(5100):
        out.write(f"\"{row % 30 + 1}\"," + ",".join(str(int(draw.random() < 0.1)) for _ in range(446)) + "\n")
with open("accountant.json", "w") as out:
    json.dump([[1.1, 0.01, 1000]], out)
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 1), }".ljust(117) + "\n"
with open("ages.npy", "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<1000f", *[draw.uniform(17, 90) for _ in range(1000)]))
END
# the first is the mean of 1,000 ages from 0 to 100, with the bound that the program derives for it
cat > events.yaml <<'END'
schema: sotto.events/1
adjacency: replace-one
events:
  - {mechanism: gaussian, scale: 0.5, l1: 0.1000000000003553, l2: 0.10000000000035533}
  - {mechanism: laplace, scale: 1, l1: 0.1}
END
sotto data import location.csv --name location
sotto data split synthetic-blobs-d512-k10-n5000 --parts private=4000,member=300,nonmember=700 -o blobs
for one in private-features=X private-labels=y member-labels=ym nonmember-labels=yn; do
  for end in npy npy.provenance.json; do mv "blobs/${one%=*}.$end" "${one#*=}.$end"; done
done
sotto head --features X.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 2048 --epochs 1 --epsilon 3 --ledger ledger.jsonl -o released.safetensors
sotto predict --head released.safetensors --features blobs/member-features.npy --logits -o m.npy
sotto predict --head released.safetensors --features blobs/nonmember-features.npy --logits -o n.npy
