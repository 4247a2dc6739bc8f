// spider-rs: `node spider-rs.mjs MODULE drop|store URL FOLDER`. Pages are dropped, or written as plain files.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [module, mode, url, folder] = process.argv.slice(2)
const { Website } = createRequire(import.meta.url)(module)

// Raw content spares the conversion of every page to a JavaScript string.
const website = new Website(url, true).withRespectRobotsTxt(true).withDelay(0).build()

if (mode === 'store') {
  await website.crawl((error, page) => {
    if (error) throw error
    const name = createHash('sha256').update(page.url).digest('hex')
    // Written at once: with promises the crawl was seen to wait for seconds on a busy machine.
    writeFileSync(join(folder, name), page.rawContent ?? page.content)
  })
} else {
  await website.crawl()
}
