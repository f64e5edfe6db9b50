import asyncio
import os
import socket


async def echo(sock):
    reader, writer = await asyncio.open_connection(sock=sock)
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def main():
    here, there = socket.socketpair()
    server = asyncio.create_task(echo(there))
    reader, writer = await asyncio.open_connection(sock=here)
    for text in b"first\n", b"second\n":
        writer.write(text)
        print(await reader.readline())
    writer.write_eof()
    await server
    read_fd, write_fd = os.pipe()
    loop, chunks = asyncio.get_running_loop(), []
    done = loop.create_future()

    class Collect(asyncio.Protocol):
        def data_received(self, data):
            chunks.append(data)

        def connection_lost(self, error):
            done.set_result(error)

    await loop.connect_read_pipe(Collect, os.fdopen(read_fd, "rb"))
    os.write(write_fd, b"through a pipe")
    os.close(write_fd)
    await done
    print(b"".join(chunks))


asyncio.run(main())
