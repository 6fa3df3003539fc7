// SPDX-License-Identifier: Apache-2.0

/// Why a request is refused before anything is looked up. Texts are safe to show to the client.
package enum ImageRequestError: Error, Sendable, Hashable {
    /// A required parameter is absent.
    case missingParameter(String)
    /// A parameter's value is wrong at `position`, an offset in bytes into its decoded value.
    case invalidParameter(name: String, position: Int, reason: String)
    /// There is no such parameter; `hint` may say what was meant.
    case unknownParameter(name: String, hint: String?)
    /// The source URL can't be used; `position` as above.
    case invalidURL(position: Int, reason: String)
    /// The source URL's scheme is neither `http` nor `https`.
    case unsupportedScheme(String)
    /// The configuration does not allow this source.
    case sourceForbidden
    /// An origin could read the URL as one that another origin rule matches, or none.
    case sourceAmbiguous
    /// The target has no signature, and needs one.
    case signatureRequired
    /// Another proxy's URL has no signature, and needs one.
    case dialectSignatureRequired
    /// The request brings a picture, and neither a signature nor the settings allow that.
    case uploadForbidden
    /// The target's signature was made with none of the keys, or over something else; or there is no key.
    case signatureMismatch(hasKeys: Bool)
    /// The option, or parameter, needs a signed URL.
    case optionForbidden(String)
    /// The parameter changes the picture, and the configuration leaves that to presets.
    case presetRequired(String)
    /// The URL's time is over.
    case urlExpired
    /// An option of another proxy's URL can't be translated.
    case untranslated(option: String, reason: String)
    /// The settings do not allow an option of another proxy's URL.
    case dialectOptionForbidden(option: String, reason: String)
    /// The signature of another proxy's URL is missing or wrong.
    case dialectSignature(reason: String)
    /// There is nothing at a path below the prefix of another proxy's URLs.
    case notFound(reason: String)
    /// An error about the source, and what was read as that.
    indirect case ofSource(ImageRequestError, String)
}
