"""An ftp server on loopback that knows just enough commands (RFC 959, RFC 2428) for one download."""

from __future__ import annotations

import contextlib
import socket
import threading

__all__ = ["FtpServer"]


class FtpServer:
    """Gives out `files` by path. `passive_address` is what it claims in PASV; with `extended` it knows EPSV as well.

    With a `login` only that user and password are let in. `commands` lists what clients said.
    """

    def __init__(
        self,
        files: dict[str, bytes],
        passive_address: str = "127.0.0.1",
        extended: bool = True,
        login: tuple[str, str] | None = None,
    ) -> None:
        self.commands: list[str] = []
        self.odd_lines: list[str] = []
        """What stands in every listing besides."""
        self._login = login
        self._files = files
        self._passive_address = passive_address
        self._extended = extended
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> FtpServer:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        socket.create_connection(self._listener.getsockname()).close()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        data_listener: socket.socket | None = None
        folder = user = ""
        # A client may break off at any time.
        with contextlib.suppress(OSError), connection, connection.makefile("rwb", buffering=0) as lines:
            lines.write(b"220 ready\r\n")
            while line := lines.readline():
                self.commands.append(line.decode().strip())
                verb, _, argument = self.commands[-1].partition(" ")
                reply = {"USER": "331 password?", "PASS": "230 in", "PWD": '257 "/"', "TYPE": "200 ok"}.get(verb)
                if verb == "USER":
                    user = argument
                elif verb == "PASS" and self._login not in (None, (user, argument)):
                    reply = "530 no"
                elif verb == "CWD":
                    # An absolute path is where a client begins again on a connection that it kept.
                    folder = "" if argument == "/" else f"{folder}{argument.strip('/')}/"
                    reply = "250 ok" if any(path.startswith(f"/{folder}") for path in self._files) else "550 no such folder"
                elif verb in ("EPSV", "PASV"):
                    data_listener = socket.create_server(("127.0.0.1", 0))
                    reply = self._passive(verb, data_listener.getsockname()[1])
                elif verb in ("RETR", "LIST"):
                    path = f"/{folder}{argument}"
                    found = self._listing(f"/{folder}") if verb == "LIST" else self._files.get(path)
                    if found is None or data_listener is None:
                        reply = "550 no such file"
                    else:
                        lines.write(b"150 here it comes\r\n")
                        with data_listener.accept()[0] as data:
                            data.sendall(found)
                        reply = "226 done"
                lines.write(f"{reply or '500 what?'}\r\n".encode())

    def _listing(self, folder: str) -> bytes:
        """As `ls -l` writes it: what lies in the folder, each folder in it once."""
        within = [path.removeprefix(folder) for path in self._files if path.startswith(folder)]
        names = dict.fromkeys(name.partition("/")[0] + ("/" if "/" in name else "") for name in sorted(within))
        lines = [
            f"{'d' if name.endswith('/') else '-'}rw-r--r--   1 ftp      ftp          1024 Nov 18 12:00 {name.rstrip('/')}"
            for name in names
        ]
        return "".join(f"{line}\r\n" for line in (*lines, *self.odd_lines)).encode("utf-8", "surrogateescape")

    def _passive(self, verb: str, port: int) -> str:
        if verb == "EPSV":
            return f"229 ok (|||{port}|)" if self._extended else "500 what?"
        return f"227 ok ({self._passive_address.replace('.', ',')},{port >> 8},{port & 255})"
