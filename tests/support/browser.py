"""Headless Chromium, driven over its pipe, for tests of pages; it starts once and measures many.
    browser.py CHROMIUM ASK ANSWER    questions from one named pipe, answers into the other, until nobody has asked for five minutes:
        measure WIDTH light|dark|print PAGE    what tests/support/measure_page.js finds
        print PAPER|- PAGE PDF                 the page on A4 or Letter, or on the paper that it names itself"""
import base64, json, os, select, shutil, signal, subprocess, sys, tempfile, time


class Browser:
    """A page in headless Chromium; messages of the DevTools protocol over descriptors 3 and 4, each ended by a zero."""

    def __init__(self, chromium, *options):
        self.folder, (to_read, self.write), (self.read, to_write) = tempfile.mkdtemp(), os.pipe(), os.pipe()
        self.number, self.rest, self.requests, self.errors = 0, b"", [], []
        os.environ["CHROMIUM"] = chromium  # descriptors 3 and 4 are the shell's to arrange
        command = 'exec "$CHROMIUM" "$@" 3<&%d 4>&%d' % (to_read, to_write)
        self.process = subprocess.Popen(["bash", "-c", command, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                         "--no-first-run", "--disable-background-networking", "--disable-component-update", *options,
                                         "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"],
                                        pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_read), os.close(to_write)
        targets = self.send("Target.getTargets", session=None)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", session=None, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "DOM", "Network", "Log"):
            self.send(domain + ".enable")

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

    def go(self, address, ready="true"):
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)
        self.wait(f"location.protocol !== 'about:' && document.readyState === 'complete' && {ready}")

    def window(self, width, colours, media="", mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=mobile)
        self.send("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": colours}])

    def end(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def measure(browser, width, how, page):
    browser.window(int(width), "dark" if how == "dark" else "light", "print" if how == "print" else "")
    browser.go("file://" + page)
    with open(os.path.join(os.path.dirname(__file__), "measure_page.js"), encoding="utf-8") as script:
        return browser.js(script.read())


def print_page(browser, paper, page, pdf):
    browser.window(1280, "light")
    browser.go("file://" + page)
    if paper != "-":
        browser.js("document.head.insertAdjacentHTML('beforeend', '<style>@page { size: %s }</style>')" % paper)
    with open(pdf, "wb") as out:
        out.write(base64.b64decode(browser.send("Page.printToPDF", preferCSSPageSize=True)["data"]))
    return "printed"


def serve(browser, ask, answer):
    asked = os.open(ask, os.O_RDWR)  # for writing too, so that it never ends
    while select.select([asked], [], [], 300)[0]:
        what, *about = os.read(asked, 4096).decode().split()
        try:
            said = {"measure": measure, "print": print_page}[what](browser, *about)
        except RuntimeError as error:
            said = str(error)
        with open(answer, "w", encoding="utf-8") as out:
            out.write(said + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    chromium = Browser(sys.argv[1])
    try:
        serve(chromium, *sys.argv[2:])
    finally:
        chromium.end()
