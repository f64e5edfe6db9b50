const NUMBER = 0;

const sleep = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));

async function worker(queue, results) {
	for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
		await sleep(0);
		results.push([job, job * job + (NUMBER % 10)]);
	}
}

async function main() {
	const queue = Array.from({ length: 12 }, (_, i) => i);
	const results = [];
	await Promise.all([1, 2, 3].map(() => worker(queue, results)));
	results.sort((a, b) => a[0] - b[0]);
	console.log(results.slice(0, 4));
	const settled = await Promise.allSettled([sleep(1, "ok"), Promise.reject(new Error("no"))]);
	console.log(settled.map(({ status }) => status));
	console.log(await Promise.race([sleep(50, "slow"), sleep(1, "fast")]));
}

main();
