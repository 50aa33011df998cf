"""A host of files with the faults of real ones."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Host:
    """Attributes are its faults; `asked` is the list of (path, Range) so far."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files, self.asked = files, []
        self.breaks_after: int | None = None  # bytes of one answer
        self.ranges = True
        self.states_length = True
        self.address = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.asked.append((request.path, wanted))
        content = self.files.get(request.path.lstrip("/"))
        if content is None:
            request.send_error(404)
            return
        begin = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and self.ranges else 0
        if begin and begin >= len(content):
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(content)}")
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        request.send_response(206 if begin else 200)
        if begin:
            request.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        if self.states_length:
            request.send_header("Content-Length", str(len(content) - begin))
        request.end_headers()
        request.wfile.write(content[begin:][: self.breaks_after])


@contextmanager
def serve(files: dict[str, bytes]) -> Iterator[Host]:
    host = Host(files)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.answer(self)

        def log_message(self, *_) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    host.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
