// Nuxt Image: nuxt.config has
//   image: { providers: { imageproxyd: { provider: "~/nuxt-provider.mjs", options: { baseURL: "http://127.0.0.1:8080" } } } }
// and a page <NuxtImg provider="imageproxyd" src="https://example.org/cat.jpg" width="640" fit="cover" height="400" />.

// "contain" without bars: the style object-fit makes those.
const modes = { cover: "cover", contain: "fit", fill: "fill", inside: "fit", outside: "outside" };

/** Called by Nuxt Image for each width. */
export function getImage(src, { modifiers = {}, baseURL = "" } = {}) {
  const { width, height, fit, quality, format } = modifiers;
  let query = `url=${encodeURIComponent(src)}`;
  if (width || height) {
    const mode = width && height && fit ? `:${modes[fit] ?? fit}` : "";
    query += `&transform=resize:${width ?? ""}x${height ?? ""}${mode}`;
  }
  if (format) query += `&format=${format}`;
  if (quality) query += `&quality=${quality}`;
  return { url: `${baseURL}/img?${query}` };
}
