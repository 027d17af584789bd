const unit = process.env.TANCHO_UNIT ?? 'worker/0';
const everyMs = Number(process.env.WORK_EVERY_MS ?? 5000);
let jobs = 0;

console.log(`worker ${unit}: started, one job every ${everyMs} ms`);

const timer = setInterval(() => {
  jobs += 1;
  console.log(`worker ${unit}: finished job ${jobs}`);
}, everyMs);

process.on('SIGTERM', () => {
  clearInterval(timer);
  console.log(`worker ${unit}: stopped after ${jobs} jobs`);
});
