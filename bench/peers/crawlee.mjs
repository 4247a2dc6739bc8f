// Crawlee: `node crawlee.mjs MODULE store URL FOLDER`. A CheerioCrawler that writes each page as a plain file.
// Only links that were not seen before become requests: `enqueueLinks` would make one of each.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [module, , start, folder] = process.argv.slice(2)
const { CheerioCrawler, Configuration, log, LogLevel } = createRequire(import.meta.url)(module)

log.setLevel(LogLevel.ERROR)

const { origin } = new URL(start)
const seen = new Set([start])

function newLinks($, base) {
  const links = []
  for (const { attribs } of $('a[href]')) {
    if (!URL.canParse(attribs.href, base)) continue
    const url = new URL(attribs.href, base)
    url.hash = ''
    if (url.origin === origin && !seen.has(url.href)) {
      seen.add(url.href)
      links.push(url.href)
    }
  }
  return links
}

const crawler = new CheerioCrawler(
  {
    minConcurrency: 64,
    maxConcurrency: 64,
    respectRobotsTxtFile: true,
    useSessionPool: false,
    async requestHandler({ request, body, $ }) {
      await writeFile(join(folder, createHash('sha256').update(request.url).digest('hex')), body)
      await crawler.addRequests(newLinks($, request.loadedUrl))
    },
  },
  // The queue stays in memory; only pages are written.
  new Configuration({ persistStorage: false }),
)
await crawler.run([start])
