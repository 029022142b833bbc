"""Serves a file of 55,000 lines, each its number, and any part of it, over HTTP."""

import http.server
import re
import sys

LINES = b"".join(b"%07d\n" % line for line in range(55_000))


class Parts(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "bytes=0-"))
        first, end = int(asked[1]), int(asked[2] or len(LINES) - 1) + 1
        part = LINES[first:end]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(LINES)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Parts).serve_forever()
