"""asyncssh as a person's script uses it, with the config that the page shows: `asyncssh-client.py CONFIG HOST`."""
import asyncio
import hashlib
import os
import sys

import asyncssh

CONFIG, HOST = sys.argv[1:]


async def main():
    async with asyncssh.connect(HOST, config=[CONFIG]) as connection:
        done = await connection.run("echo out; echo err >&2; exit 7")
        assert (done.stdout, done.stderr, done.exit_status) == ("out\n", "err\n", 7), done
        await files(connection)
        await ports(connection)
    print(asyncssh.__version__)


async def files(connection):
    data = os.urandom(5_000_000)
    async with connection.start_sftp_client() as sftp:
        async with sftp.open("by-asyncssh", "wb") as file:
            await file.write(data)
        async with sftp.open("by-asyncssh", "rb") as file:
            assert await file.read() == data
        assert "by-asyncssh" in await sftp.listdir(".")
    done = await connection.run("sha256sum by-asyncssh; rm by-asyncssh", check=True)
    assert done.stdout.split()[0] == hashlib.sha256(data).hexdigest()


async def ports(connection):
    ours = await asyncio.start_server(lambda _, writer: answer(writer, b"from outside"), "127.0.0.1", 0)
    remote = await connection.forward_remote_port("127.0.0.1", 0, "127.0.0.1", ours.sockets[0].getsockname()[1])
    code = f"import socket; print(socket.create_connection(('127.0.0.1', {remote.get_port()})).recv(99).decode())"
    done = await connection.run(f'python -c "{code}"', check=True)
    assert done.stdout == "from outside\n", done.stdout
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); c, _ = s.accept(); c.sendall(b'from inside'); c.close()"
    async with connection.create_process(f'python -c "{serve}"') as inside:
        port = int(await inside.stdout.readline())
        local = await connection.forward_local_port("127.0.0.1", 0, "127.0.0.1", port)
        reader, _ = await asyncio.open_connection("127.0.0.1", local.get_port())
        assert await reader.read() == b"from inside"


async def answer(writer, text):
    writer.write(text)
    await writer.drain()
    writer.close()


asyncio.run(main())
