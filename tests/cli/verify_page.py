"""verifier/verify.html in Chromium, driven over its pipe: what it says of files that are given to its file picker.
    verify_page.py CHROMIUM PAGE replay FEWEST RECORD...    questions of verify_recorder.py, so many of which were refused: the page's verdict is that of sotto-verify.py
    verify_page.py CHROMIUM PAGE shape CERTIFICATE FILE...    the page itself: no request, its self-test, 360 and 1280 px, light and dark
Exit code 1 where something is wrong, with a line for each. PICTURES: a folder for pictures of the page."""
import base64, json, os, re, shutil, subprocess, sys, tempfile, time

VERDICT = {0: "holds", 1: "does not hold", 2: "not decided", 65: "does not hold"}
FIGURES = re.compile(r"(?:epsilon(?: at most)?|what) (infinite|[\d.e+-]*\d)", re.I)  # as verify_recorder.py has it
wrong = []


def expect(ok, text):
    if not ok:
        wrong.append(text)
        print("WRONG", text[:600])


class Browser:
    """A page in headless Chromium; messages of the DevTools protocol over descriptors 3 and 4, each ended by a zero."""

    def __init__(self, chromium, page):
        self.folder, (to_read, self.write), (self.read, to_write) = tempfile.mkdtemp(), os.pipe(), os.pipe()
        self.number, self.rest, self.requests, self.errors = 0, b"", [], []
        os.environ["CHROMIUM"] = chromium  # descriptors 3 and 4 are the shell's to arrange
        command = 'exec "$CHROMIUM" "$@" 3<&%d 4>&%d' % (to_read, to_write)
        self.process = subprocess.Popen(["bash", "-c", command, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                         "--no-first-run", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                                         "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"],
                                        pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_read), os.close(to_write)
        targets = self.send("Target.getTargets", session=None)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", session=None, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "DOM", "Network", "Log"):
            self.send(domain + ".enable")
        self.go("file://" + os.path.abspath(page))

    def send(self, method, session=True, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def message(self):
        while b"\0" not in self.rest:
            data = os.read(self.read, 1 << 20)
            if not data:
                raise RuntimeError("chromium ended")
            self.rest += data
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.errors.append(json.dumps(message["params"])[:400])
        return message

    def js(self, text):
        found = self.send("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{text}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, text, seconds=300):
        end = time.time() + seconds
        while time.time() < end:
            found = self.js(text)
            if found:
                return found
            time.sleep(0.02)
        raise RuntimeError(f"never: {text}")

    def go(self, address):
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)
        self.wait("typeof NEWEST === 'object' && document.readyState === 'complete'")

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

    def end(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


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
    browser.go("file://" + os.path.abspath(page) + "#self-test")
    expect(browser.wait("document.body.dataset.verdict") == "right", "self-test: " + browser.js("document.getElementById('result').textContent"))
    browser.go("file://" + os.path.abspath(page))
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
                browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 700)
                browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
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
    expect({"files", "SUMMARY", "again"} <= set(reached), f"Tab reaches {reached}")
    # a check can be stopped, which decides nothing
    browser.js("ask({certificate: {name: 'x', bytes: new Uint8Array(0)}}); $('stop').click()")
    expect("you stopped the check" in browser.js("document.getElementById('result').textContent"), "a check cannot be stopped")
    # a certificate without its file, a file without its certificate
    expect(browser.ask([certificate])[0] == "holds" and "released file, as none was given" in browser.js("document.getElementById('result').textContent"), "a certificate alone")
    expect(browser.ask(files[:1])[0] == "The certificate is missing.", "a file alone")
    # a folder with all that an officer gets, printed pages too; a condition of the certificate is one of the verdict
    verdict, _, said = browser.ask([*files, certificate, page])
    listed = browser.js("document.getElementById('list').textContent")
    expect(verdict == "holds" and "Page to read" in listed and "not checked: compare its ε" in listed, f"with a page: {verdict}: {said}: {listed}")
    expect("The certificate holds, on a condition: ε ≤ 1 at δ = 1e-05" in said and "It is NOT signed" in said and "word is taken" not in said, said)
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
browser = Browser(chromium, page)
try:
    if command == "replay":
        replay(browser, int(arguments[0]), arguments[1:])
    else:
        shape(browser, page, arguments[0], arguments[1:])
finally:
    browser.end()
sys.exit(1 if wrong else 0)
