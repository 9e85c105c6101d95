"""The grammar of HTTP messages: bytes in, values out. Pure; sockets are in `fetch`."""
