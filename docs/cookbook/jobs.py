import asyncio


async def fetch(url, queue):
    reply = await queue.get()
    return url, reply


async def load(customer, queue):
    found = asyncio.create_task(fetch("/customers/%d" % customer, queue), name="fetch %d" % customer)
    return await asyncio.wait_for(found, 3600)


async def heartbeat():
    while True:
        await asyncio.sleep(60)


async def main():
    beat = asyncio.create_task(heartbeat(), name="heartbeat")
    answers = asyncio.Queue()
    await asyncio.gather(*[load(n, answers) for n in range(1000)])
    beat.cancel()


asyncio.run(main())
