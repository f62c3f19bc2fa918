"""What the PyTorch peers share: the tuned environment, timing, one JSON line of results.

"tuned": malloc keeps its memory instead of handing it back to the kernel each step, and asks for huge pages
(glibc.malloc.hugetlb=1 is madvise). "installed": nothing set but the thread count."""
import json
import os
import statistics
import sys
import time

TUNED = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
}
HUGE = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:"
                          "glibc.malloc.top_pad=268435456:glibc.malloc.hugetlb=1"}


def restart_with(setting):
    """glibc reads its settings at start-up, so the script starts itself again with them."""
    wanted = {"installed": {}, "tuned": TUNED, "tuned-huge": {**TUNED, **HUGE}}[setting]
    if any(os.environ.get(key) != value for key, value in wanted.items()):
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable] + sys.argv)


def add_common(parser):
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=["f32", "autocast", "bf16"], default="f32",
                        help="autocast: bf16 by torch.autocast; bf16: bf16 weights with f32 masters in the optimizer")
    parser.add_argument("--layout", choices=["plain", "channels_last"], default="channels_last")
    parser.add_argument("--setting", choices=["installed", "tuned", "tuned-huge"], default="tuned")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--warmup", type=int, default=3)


def measure(step, args):
    """Median (wall, CPU) seconds of args.steps calls of step() after args.warmup."""
    for _ in range(args.warmup):
        step()
    wall, cpu = [], []
    for _ in range(args.steps):
        start, cpu_start = time.perf_counter(), time.process_time()
        step()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return statistics.median(wall), statistics.median(cpu)


def report(what, args, measured, **more):
    import torch
    seconds, cpu = measured
    print(json.dumps({"what": what, **vars(args), "torch": torch.__version__, "step_ms": round(1e3 * seconds, 3), "cpu_ms": round(1e3 * cpu, 3),
                      "images_per_second": round(args.batch / seconds, 1), **more}))
