"""verifier/verify.html in Chromium, driven over its pipe: what it says of files that are given to its file picker.
    verify_page.py CHROMIUM PAGE replay FEWEST RECORD...    questions of verify_recorder.py, so many of which were refused: the page's verdict is that of sotto-verify.py
    verify_page.py CHROMIUM PAGE officer FOLDER    what a privacy officer meets: mean.npy is signed, proved, and has a page; run.safetensors has one ledger with it
    verify_page.py CHROMIUM PAGE says TEXT FILE...    TEXT stands on the page once it has these files
    verify_page.py CHROMIUM PAGE shape CERTIFICATE FILE...    the page itself: no request, its self-test, 360 and 1280 px, light and dark
Exit code 1 where something is wrong, with a line for each. PICTURES: a folder for pictures of the page."""
import base64, json, os, re, shutil, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from browser import Browser

VERDICT = {0: "holds", 1: "does not hold", 2: "not decided", 65: "does not hold"}
FIGURES = re.compile(r"(?:epsilon(?: at most)?|what) (infinite|[\d.e+-]*\d)", re.I)  # as verify_recorder.py has it
wrong = []


def expect(ok, text):
    if not ok:
        wrong.append(text)
        print("WRONG", text[:600])


class Verifier(Browser):
    def __init__(self, chromium, page):
        super().__init__(chromium, "--hide-scrollbars")
        self.open(page)

    def open(self, page, part=""):
        self.go("file://" + os.path.abspath(page) + part, "typeof NEWEST === 'object'")

    def choose(self, paths):
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        self.send("DOM.setFileInputFiles", files=[os.path.abspath(path) for path in paths],
                  nodeId=self.send("DOM.querySelector", nodeId=root, selector="#files")["nodeId"])

    def drop(self, paths):
        """The files by the mouse, as from a folder's window: into the box, whose border tells that it takes them."""
        x, y = self.js("(() => { $('drop').scrollIntoView(); const b = $('drop').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        data = {"items": [], "files": [os.path.abspath(path) for path in paths], "dragOperationsMask": 1}
        for kind, over in (("dragEnter", False), ("dragOver", True), ("drop", False)):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
            for _ in range(100):  # a page that is busy takes an event later than it is sent
                if kind == "dragEnter" or self.js("$('drop').classList.contains('over')") == over:
                    break
                time.sleep(0.1)
            else:
                expect(False, f"{kind}: the box does not show it")

    def ask(self, paths, trust="", give=None):
        """The verdict, its code, and what the page says."""
        self.js(f"given = []; $('files').value = ''; delete document.body.dataset.verdict; $('key').value = {json.dumps(trust)}; 1")
        (give or self.choose)(paths)
        verdict = self.wait("document.body.dataset.verdict || ($('busy').hidden && document.querySelector('#result strong') && given.length && !worker "
                            "? document.querySelector('#result strong').textContent : '')")
        return verdict, self.js("document.body.dataset.code"), self.js("document.getElementById('result').textContent")


def replay(browser, fewest, records):
    """Every question in the page's own worker: verdict, and all figures of epsilon and of charges where it holds. Files are handed over in their roles, as another order or name of the files is another test."""
    codes = []
    for record in records:
        with open(record, encoding="utf-8") as lines:
            for line in lines:
                question = json.loads(line)
                files = {f["role"]: {"name": f["name"], "data": f["data"]} for f in question["files"] if f["role"] != "key"}
                keys = [{"name": f["name"], "data": f["data"]} for f in question["files"] if f["role"] == "key"]
                code = browser.js("(() => { const file = ({name, data}) => ({name, bytes: Uint8Array.from(atob(data), x => x.charCodeAt(0))}), "
                                  "files = %s, request = {trust: [...%s, ...%s.map(file)]}; for (const role in files) request[role] = file(files[role]); "
                                  "return new Promise(done => { const kept = show; show = r => { show = kept; kept(r); done(r.code + ' ' + document.body.dataset.verdict "
                                  "+ ' ' + (r.failed ? r.failed.name + ': ' + r.failed.text : [r.claim ? 'epsilon ' + (r.claim.found || r.claim.stated) : '', ...r.together].join('; '))); "
                                  "}; ask(request); }); })()"
                                  % (json.dumps(files), json.dumps(question["trust"]), json.dumps(keys)))
                codes.append(question["code"])
                figures = FIGURES.findall(code) if question["code"] in (0, 2) else question["figures"]
                expect(code.startswith(f"{question['code']} {VERDICT[question['code']]} ") and figures == question["figures"],
                       f"{question['what']}: sotto-verify.py {question['code']} with {question['figures']}, the page {code}")
    print(f"{len(codes)} questions, of which {len(wrong)} were answered otherwise")
    expect(0 in codes and sum(code in (1, 65) for code in codes) >= fewest, f"{len(codes)} questions: too few honest, or fewer than {fewest} forged")


def officer(browser, folder):
    """False pages, missing files, keys as people type them: what the page says, and whether it is green."""
    def at(*names):
        return [os.path.join(folder, name) for name in names]

    def says(what, paths, *texts, trust="", kind="open", never=()):
        _, _, said = browser.ask(paths, trust)
        found = browser.js("document.body.dataset.kind || document.querySelector('#result .verdict').className.split(' ')[1]")
        for text in texts:
            expect(text in said, f"{what}: no '{text}' in: {said}")
        expect(found == kind, f"{what}: {found}, expected {kind}: {said}")
        expect(not any(text in said for text in never), f"{what}: one of {never} in: {said}")
        return said

    certificate, signature = "mean.npy.certificate.json", "mean.npy.certificate.json.signature.json"
    release, pub = at("mean.npy", certificate, signature), at("office.key.pub")
    with open(pub[0], encoding="utf-8") as f:
        text = f.read()
    with open(at(certificate)[0], encoding="utf-8") as f:
        digest = json.load(f)["output_sha256"]
    key = json.loads(text)["public_key"]
    must = f"On the page that you sign must stand: epsilon at most 0.3 at delta 1e-06, and SHA-256 {digest}."
    says("all of it", [*release, *at("mean.html", "mean.jsonl"), *pub], "The certificate holds: ε ≤ 0.3", must, "The page mean.html says the same epsilon, delta, noise and SHA-256. Look that you see them there. Its other figures and sentences were not compared, and may have been altered.", "Before you sign, you must know what no verifier can: that nobody has more than one of these records, that settings were not chosen by trying them on these records, that the ledger is kept and has every release.", "finds at most 1.35 % of the records",
         "That does not mean that the budget is exceeded.", kind="holds", never=("and may say less", "Not compared"))
    listed = browser.js("document.getElementById('list').textContent")
    expect("A ledger is confidential. Unless you keep it, whoever sent it to you should not have." in listed, listed)
    says("no page", [*release, *pub], must, "The page that you sign may say a smaller figure", kind="holds")
    # a page that says another thing than the certificate
    with open(at("mean.html")[0], encoding="utf-8") as f:
        page = f.read()
    false = "Do not sign: a page says another thing than the certificate."
    for what, old, new, words in (("headline", "epsilon at most 0.3 ", "epsilon at most 0.1 ", "The page false.html says epsilon at most 0.1. The signed certificate says 0.3. Do not sign that page."),
                                  ("delta", "at delta 1e-06", "at delta 1e-09", "says delta 1e-09. The signed certificate says 1e-06."),
                                  ("no headline", "epsilon at most 0.3 ", "very private ", "The page false.html does not say epsilon where it should stand."),
                                  ("hash", digest, digest[::-1], f"says SHA-256 {digest[::-1]}. The signed certificate says {digest}."),
                                  ("annex", "<td><bdi>0.3 (", "<td><bdi>0.2 (", "says epsilon at most 0.2."), ("records", "<td><bdi>40</bdi>", "<td><bdi>4000</bdi>", "says the number of records 4000."),
                                  ("second headline", "</h1>", "</h1><p>Proved: epsilon at most 0.1 at delta 1e-06.</p>", "says epsilon at most 0.1."), ("signer", key, key[::-1], f"says that it is signed by the key {key[::-1]}.")):
        expect(old in page, f"{what}: the page of sotto certificate does not say '{old}'")
        with open(at("false.html")[0], "w", encoding="utf-8") as f:
            f.write(page.replace(old, new))
        says(f"false {what}", [*release, *at("false.html"), *pub], false, words, kind="fails", never=("Checked", must))
        expect(browser.js("document.body.dataset.verdict + document.body.dataset.code") == "does not hold1", f"false {what}: not refused")
    says("a page of another release", [*release, *at("run.html"), *pub], false, "The page run.html says epsilon at most 0.1", kind="fails")
    with open(at("false.html")[0], "w", encoding="utf-8") as f:
        f.write("<!doctype html><h1>Proved: very private</h1>")
    says("an unknown page", [*release, *at("false.html"), *pub], must, "Not compared: false.html. Do not sign what was not compared.")
    # nothing is green without a signature, its key, or the released file
    for what, paths, words in (("no signature", at("mean.npy", certificate, "mean.html"), "Not signed: "), ("no file", [*at(certificate, signature), *pub], "The released file was not given: nothing was checked about it."),
                               ("no key", release, "Signed, but you gave no key: "), ("a ledger alone", at("mean.jsonl"), "The ledger's chain is whole. No release was checked.")):
        expect(says(what, paths, words).startswith(words), f"{what}: '{words}' is not the first line")
    said = says("a run without its file", at("run.safetensors.certificate.json"), "Not checked here; the program that made the certificate says that it did: ",
                "Ask the data office for the written result of 'sotto verify'.", never=("derives more", "word is taken"))
    said = says("a run", at("run.safetensors", "run.safetensors.certificate.json", "run.html"), "Not signed: ", "Noise, rate and steps agree with the file's recipe.",
                "Proved here: sensitivity and account, for training by the stated recipe", "This page's own count gives at most ", "accepts up to 1 % more", " %. That was not checked here, and may have been altered.")
    own, stated = (float(re.search(pattern, said)[1]) for pattern in (r"finds at most ([\d.]+) %", r"The page run.html says ([\d.]+) %"))
    expect(own > stated, f"{own} and {stated} %")
    # keys as people have them
    with open(at("digits.txt")[0], "w", encoding="utf-8") as f:
        f.write(key + "\n")
    spaced = " ".join(key[i:i + 8] for i in range(0, 64, 8)).upper()
    for typed in (key, spaced, "0x" + key, text.replace("\n", "")):
        says("the key " + typed, release, "It is signed with the key that you gave.", trust=typed, kind="holds")
    says("the digits in a file", [*release, *at("digits.txt")], "It is signed with the key that you gave.", kind="holds")
    for typed in (key[:-1], key[:-1] + "g", "registry"):
        says("the key " + typed, release, "The key that you typed is not 64 digits from 0 to 9 and a to f; nothing was judged.", trust=typed, never=("Does not hold",))
    other = "d" + key[1:] if key[0] != "d" else "e" + key[1:]
    changed = os.path.join(folder, "changed", certificate)
    os.makedirs(os.path.dirname(changed), exist_ok=True)
    with open(at(certificate)[0], encoding="utf-8") as f, open(changed, "w", encoding="utf-8") as to:
        to.write(f.read().replace("0.3", "0.2"))
    says("another key", release, "signed by another key than the one that you gave", trust=other, kind="fails")
    says("no signature, and a key", release[:2], "There is no signature file, and you gave a key.", trust=key, kind="fails")
    says("changed", [release[0], changed, release[2]], "The certificate was changed after it was signed: the signature names the key that you gave", trust=key, kind="fails")
    says("changed, no key", [release[0], changed, release[2]], "The signature does not fit this certificate.", kind="fails")
    # the next files, with the same key
    for paths, typed in (([*release, *pub], ""), (release, key)):
        browser.ask(paths, typed)
        browser.js("$('again').click()")
        expect(browser.js("$('kept').textContent") == "The key that you gave is kept." and not browser.js("$('result').textContent"), "again: not said, or a verdict is left")
        browser.choose(release)
        expect(browser.wait("document.body.dataset.kind") == "holds", "again: the key is not kept")
    # two releases at once: one is taken out
    two = [*release, *at("run.safetensors", "run.safetensors.certificate.json", "mean.html"), *pub]
    says("two releases", two, "Two files of one kind: ", certificate + " and run.safetensors.certificate.json", "Check one release at a time: take out mean.* or run.*.")
    browser.js("[...document.querySelectorAll('#result button')].find(x => x.textContent === 'Take out run.*').click()")
    expect(browser.wait("document.body.dataset.kind") == "holds", "a release was not taken out")
    above = browser.js("document.querySelector('main').innerText.split('1. The key')[0]")
    expect("Use the verify.html that your registry gave you, never one that came with the files" in above, above)
    expect("schema" not in browser.js("document.getElementById('result').innerText"), "a schema is named, and there is none")


def contrast(one, other):
    def light(colour):
        parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
        return sum(w * (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4) for w, x in zip((0.2126, 0.7152, 0.0722), parts))
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOURS = """[...document.querySelectorAll('main *')].filter(x => x.offsetParent && [...x.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(x => {
  let under = x; while (under && /^rgba\\(0, 0, 0, 0\\)$|transparent/.test(getComputedStyle(under).backgroundColor)) under = under.parentElement;
  return [x.tagName + ' ' + x.textContent.slice(0, 30), getComputedStyle(x).color, getComputedStyle(under).backgroundColor]; })"""


def shape(browser, page, certificate, files):
    expect(os.path.getsize(page) <= 300 * 1000, "the page is larger than 300 KB")
    browser.open(page, "#self-test")
    expect(browser.wait("document.body.dataset.verdict") == "right", "self-test: " + browser.js("document.getElementById('result').textContent"))
    browser.open(page)
    with open(os.path.join(os.path.dirname(__file__), "../golden/conditions.txt"), encoding="utf-8") as lines:
        for part in ("\n" + lines.read().rstrip()).replace("\n    ", "\t").split("\n")[1:]:
            text, *said = part.split("\t")
            expect(browser.js(f"sentencesOf({json.dumps(text)})") == said, f"{text}: {browser.js(f'sentencesOf({json.dumps(text)})')}, expected {said}")
    with open(certificate, encoding="utf-8") as f:
        text = f.read()
    folder = tempfile.mkdtemp()
    forged = os.path.join(folder, os.path.basename(certificate))
    with open(forged, "w", encoding="utf-8") as f:
        f.write(re.sub(r'("upper": ?[0-9.]*?)(\d)([,\s}])', lambda m: m[1] + str((int(m[2]) + 1) % 10) + m[3], text, count=1))
    for kind, paths in (("holds", [*files, certificate]), ("fails", [*files, forged])):
        verdict, _, said = browser.ask(paths)
        expect(verdict == ("holds" if kind == "holds" else "does not hold"), f"{kind}: {verdict}: {said}")
        expect(("Checked" in said) == (kind == "holds"), "a failure says nothing but what failed: " + said)
        for width in (360, 1280):
            for colours in ("light", "dark"):
                browser.window(width, colours, mobile=width < 700)
                browser.js("document.querySelectorAll('details').forEach(x => { x.open = true; })")
                wide = browser.js("document.documentElement.scrollWidth")
                expect(wide <= width, f"{width} px, {colours}: the page is {wide} px wide")
                for name, ink, paper in browser.js(COLOURS):
                    expect(contrast(ink, paper) >= 4.5, f"{colours}: '{name}' has contrast {contrast(ink, paper):.1f}")
                if os.environ.get("PICTURES"):
                    data = browser.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                    with open(os.path.join(os.environ["PICTURES"], f"{kind}-{width}-{colours}.png"), "wb") as f:
                        f.write(base64.b64decode(data))
    shutil.rmtree(folder)
    # by keyboard: what can be used can be reached, in the order of the page
    reached = []
    browser.js("document.activeElement.blur()")
    for _ in range(12):
        for kind in ("keyDown", "keyUp"):
            browser.send("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.append(browser.js("document.activeElement.id || document.activeElement.tagName"))
    expect({"key", "files", "SUMMARY", "again"} <= set(reached) and reached.index("key") < reached.index("files"), f"Tab reaches {reached}")
    # a check can be stopped, which decides nothing
    browser.js("ask({certificate: {name: 'x', bytes: new Uint8Array(0)}}); $('stop').click()")
    expect("you stopped the check" in browser.js("document.getElementById('result').textContent"), "a check cannot be stopped")
    # a certificate without its file, a file without its certificate
    expect(browser.ask([certificate])[0] == "holds" and "released file, as none was given" in browser.js("document.getElementById('result').textContent"), "a certificate alone")
    expect(browser.ask(files[:1])[0] == "The certificate is missing.", "a file alone")
    # a folder with all that an officer gets, printed pages too; a condition of the certificate is one of the verdict
    verdict, _, said = browser.ask([*files, certificate, page])
    listed = browser.js("document.getElementById('list').textContent")
    expect(verdict == "holds" and "not compared: a page that checks certificates; never use one that came with the files" in listed, f"with a page: {verdict}: {said}: {listed}")
    expect(said.startswith("Not signed: ") and "Nothing else was found wrong, on a condition: ε ≤ 1 at δ = 1e-05" in said and "says that it did" not in said, said)
    # dropped files, all at once and one after another, the certificate last; a folder, which is no file
    for drops in ([[*files, certificate]], [[file] for file in (*files, certificate)]):
        browser.ask(drops[0], give=lambda paths, more=drops[1:]: [browser.drop(some) for some in [paths, *more]])
        browser.wait(f"given.length === {1 + len(files)} && document.body.dataset.verdict")
        said = browser.js("document.body.dataset.verdict + ': ' + document.getElementById('result').textContent")
        expect(said.startswith("holds: ") and "its hash matches" in said and "came out of that charge" in said, f"{len(drops)} drops: {said}")
    browser.drop([os.path.dirname(os.path.abspath(certificate))])
    browser.wait("document.getElementById('result').textContent.includes('A file cannot be read.')", 10)
    expect(browser.js("location.pathname").endswith("/" + os.path.basename(page)), "a drop leads away from the page")
    hosts = [url for url in browser.requests if not url.startswith(("file:", "blob:", "about:", "data:"))]
    expect(not hosts and len(browser.requests) < 20, f"requests: {browser.requests}")
    expect(not browser.errors, f"errors: {browser.errors}")


chromium, page, command, arguments = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
browser = Verifier(chromium, page)
try:
    if command == "replay":
        replay(browser, int(arguments[0]), arguments[1:])
    elif command == "officer":
        officer(browser, arguments[0])
    elif command == "says":
        browser.ask(arguments[1:])
        expect(arguments[0] in browser.js("document.querySelector('main').innerText"), browser.js("document.querySelector('main').innerText"))
    else:
        shape(browser, page, arguments[0], arguments[1:])
finally:
    browser.end()
sys.exit(1 if wrong else 0)
