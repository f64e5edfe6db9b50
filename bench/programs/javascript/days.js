const NUMBER = 0;

const DAY = 24 * 60 * 60 * 1000;
const start = new Date(Date.UTC(2024, 0, 1) + (NUMBER % 365) * DAY);
const end = new Date(start.getTime() + 66 * DAY);
let working = 0;
for (let day = start.getTime(); day <= end.getTime(); day += DAY) {
	const weekday = new Date(day).getUTCDay();
	if (weekday !== 0 && weekday !== 6) working++;
}
console.log(start.toISOString().slice(0, 10), end.toISOString().slice(0, 10), working);
for (const text of ["2024-02-29T13:45:00Z", "1999-12-31T23:59:59Z"]) {
	const moment = new Date(text);
	console.log(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][moment.getUTCDay()], moment.getTime() / 1000);
}
