// SPDX-License-Identifier: Apache-2.0
// Search, copy buttons, and the section that is being read. Without it the pages are complete but for these.
"use strict"

const root = document.documentElement.dataset.root

function element(name, members = {}, ...children) {
  const made = Object.assign(document.createElement(name), members)
  made.append(...children)
  return made
}

// MARK: Lists that are closed on small screens

for (const [selector, width] of [[".pages details", "52rem"], [".contents details", "75rem"]]) {
  const details = document.querySelector(selector)
  const narrow = matchMedia(`(max-width: ${width})`)
  const adapt = () => { if (details) details.open = !narrow.matches }
  narrow.addEventListener("change", adapt)
  adapt()
}
document.querySelector(".pages [aria-current]")?.scrollIntoView({ block: "nearest" })

// MARK: Tables of more than two columns, which small screens show a block a row

for (const table of document.querySelectorAll("article table")) {
  const names = [...table.querySelectorAll("th")].map((cell) => cell.textContent)
  if (names.length < 3) continue
  table.classList.add("labelled")
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, index) => { if (names[index]) cell.dataset.label = names[index] })
  }
}

// MARK: Copy buttons

/** The text to copy: of a session on a terminal the commands alone. */
function copiedText(code) {
  if (!code.classList.contains("language-console")) return code.textContent
  const lines = []
  let continues = false
  for (const line of code.textContent.split("\n")) {
    if (line.startsWith("$ ")) lines.push(line.slice(2))
    else if (continues) lines.push(line)
    else continue
    continues = line.endsWith("\\")
  }
  return lines.join("\n") + "\n"
}

for (const block of document.querySelectorAll(".code")) {
  const button = element("button", { type: "button", className: "copy", textContent: "Copy" })
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(copiedText(block.querySelector("code")))
      button.textContent = "Copied"
    } catch {
      // A page that was not loaded over TLS or from this machine may not write to the clipboard.
      getSelection().selectAllChildren(block.querySelector("code"))
      button.textContent = "Selected"
    }
    setTimeout(() => { button.textContent = "Copy" }, 2000)
  })
  block.append(button)
}

// MARK: The section that is being read

const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]))
const headings = [...document.querySelectorAll("article :is(h2, h3)")].filter((heading) => links.has(heading.id))
function markSection() {
  const current = headings.findLast((heading) => heading.getBoundingClientRect().top < 120) ?? headings[0]
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true")
    else link.removeAttribute("aria-current")
  }
}
let isMarking = false
addEventListener("scroll", () => {
  if (isMarking) return
  isMarking = true
  requestAnimationFrame(() => {
    isMarking = false
    markSection()
  })
}, { passive: true })
markSection()

// MARK: Search

const query = document.querySelector("#query")
const results = document.querySelector("#results")
const list = results.querySelector("ol")
const status = results.querySelector("p")
const maxResults = 12
let index = null

/** Called by search.js. */
function documentSearch(entries) {
  index = entries.map(([href, page, heading, excerpt, words]) => ({
    href, page, heading, excerpt,
    title: `${heading || page}`.toLowerCase(),
    text: `${page} ${heading} ${excerpt} ${words}`.toLowerCase(),
  }))
  show()
}

function load() {
  if (!document.querySelector("#index")) document.head.append(element("script", { id: "index", src: root + "search.js" }))
}

/** What a word has in common with its other forms, so that "purge" finds "Purging". */
const stem = (word) => word.length > 4 ? word.replace(/(ing|ed|es|e|s)$/, "") : word

/** The sections that contain every word; those with words in their title first. */
function matches(typed) {
  const words = typed.map(stem)
  const found = []
  for (const entry of index) {
    if (!words.every((word) => entry.text.includes(word))) continue
    const score = words.reduce(
      (sum, word) => sum + (entry.title.includes(word) ? 4 : 0) + (entry.page.toLowerCase().includes(word) ? 2 : 0), 0)
    found.push({ entry, score })
  }
  return found.sort((a, b) => b.score - a.score).map(({ entry }) => entry)
}

function show() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean)
  results.hidden = words.length === 0
  if (results.hidden) return
  if (!index) {
    status.textContent = "Loading…"
    return
  }
  const found = matches(words)
  status.textContent = found.length > maxResults
    ? `${found.length} sections, the first ${maxResults}` : found.length === 1 ? "1 section" : `${found.length} sections`
  list.replaceChildren(...found.slice(0, maxResults).map((entry) => element("li", {},
    element("a", { href: root + entry.href },
      element("strong", { textContent: entry.heading || entry.page }),
      entry.heading ? ` – ${entry.page}` : "",
      element("small", { textContent: entry.excerpt })))))
}

function close() {
  results.hidden = true
}

document.querySelector("search").hidden = false
query.addEventListener("focus", () => { load(); show() })
query.addEventListener("input", () => { load(); show() })
query.addEventListener("keydown", (event) => {
  if (event.key === "Enter") list.querySelector("a")?.click()
})
document.querySelector("search").addEventListener("keydown", (event) => {
  const stops = [query, ...list.querySelectorAll("a")]
  const place = stops.indexOf(document.activeElement)
  if (event.key === "Escape") {
    query.focus()
    close()
  } else if (event.key === "ArrowDown" && place + 1 < stops.length) stops[place + 1].focus()
  else if (event.key === "ArrowUp" && place > 0) stops[place - 1].focus()
  else return
  event.preventDefault()
})
list.addEventListener("click", close)
document.addEventListener("click", (event) => { if (!event.target.closest("search")) close() })
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea")) return
  event.preventDefault()
  query.focus()
})
