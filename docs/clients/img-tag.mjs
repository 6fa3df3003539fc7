// The HTML of a picture from the answer of /srcset, for a server or a site generator.
// Run alone: node img-tag.mjs http://127.0.0.1:8080 https://example.org/cat.jpg "A cat"

const escaped = (text) => `${text}`.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** `facts` is the answer of /srcset; `base` is put before its URLs, such as https://images.example.org. */
export function imgTag(facts, alt, base = "") {
  const srcset = facts.images.map((image) => `${base}${image.url} ${image.width}w`).join(", ");
  const attributes = {
    src: base + facts.src, srcset, sizes: facts.sizes, width: facts.width, height: facts.height, alt,
    loading: "lazy", decoding: "async",
    // Until the picture is there; the policy of the page must permit styles in attributes.
    style: `background: ${facts.dominantColor ?? "none"} center/cover no-repeat` +
      (facts.placeholder ? ` url(${facts.placeholder})` : ""),
  };
  const text = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`).join(" ");
  return `<img ${text}>`;
}

/** Asks the daemon. */
export async function srcset(base, source, widths = [320, 640, 1280]) {
  const response = await fetch(`${base}/srcset?url=${encodeURIComponent(source)}&widths=${widths.join(",")}`);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? answer.title);
  return answer;
}

const [, script, base, source, alt] = process.argv;
if (script?.endsWith("img-tag.mjs") && source) console.log(imgTag(await srcset(base, source), alt ?? "", base));
