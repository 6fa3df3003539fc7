// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import URLs

/// Requests keys from a source. Blocking: a few seconds at most for each request.
struct AWSKeyRequest {
    let source: AWSKeySource
    /// `fetch.proxy`; metadata services are never asked through it.
    let proxy: String
    /// The maximum time for each exchange, in milliseconds.
    var timeout = ServiceExchange.timeout

    /// The source's name, for the log.
    var name: String {
        switch source {
        case .keys: "accessKey and secretKey"
        case .webIdentity: "webIdentity"
        case .container: "container"
        case .instanceMetadata: "instanceMetadata"
        }
    }

    /// Returns the keys as they are now.
    func run() throws(AWSKeyFailure) -> AWSKeys {
        switch source {
        case .keys(let name, let key, let token):
            return AWSKeys(name: try read(name), key: try read(key), sessionToken: try token.map(read))
        case .webIdentity(let identity): return try assumeRole(identity)
        case .container(let url, let authorization):
            let lines = try authorization.map(read).map { ["Authorization: \($0.text)"] } ?? []
            return try AWSKeys(json: body(of: ServiceExchange(url: url, lines: lines)))
        case .instanceMetadata(let endpoint): return try keys(at: endpoint)
        }
    }

    // MARK: - AssumeRoleWithWebIdentity

    private func assumeRole(_ identity: AWSKeySource.WebIdentity) throws(AWSKeyFailure) -> AWSKeys {
        let parameters = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"),
            ("RoleArn", identity.roleARN), ("RoleSessionName", identity.sessionName),
            ("WebIdentityToken", try read(identity.token).text),
        ]
        let form = parameters.map { "\($0.0)=\($0.1.asQueryValue)" }.joined(separator: "&")
        let exchange = ServiceExchange(
            method: "POST", url: identity.endpoint, lines: ["Accept: text/xml"], form: form, proxy: proxy)
        return try AWSKeys(xml: body(of: exchange))
    }

    // MARK: - The metadata service of a virtual machine

    /// The lifetime of the token that each call of the service needs, in seconds; it is used at once.
    private static let sessionLifetime = 60
    private static let maxRole = 256

    private func keys(at endpoint: SourceURL) throws(AWSKeyFailure) -> AWSKeys {
        let session = try text(
            of: ServiceExchange(
                method: "PUT", url: Self.url(endpoint, "latest/api/token"),
                lines: ["X-aws-ec2-metadata-token-ttl-seconds: \(Self.sessionLifetime)"]))
        guard !session.isEmpty, FieldSyntax.isValue(session) else {
            throw AWSKeyFailure("its session token is none")
        }
        let lines = ["X-aws-ec2-metadata-token: \(session)"]
        let folder = "latest/meta-data/iam/security-credentials/"
        let role = try text(of: ServiceExchange(url: Self.url(endpoint, folder), lines: lines))
            .prefix { $0 != "\n" }
        guard !role.isEmpty, role.utf8.count <= Self.maxRole,
            role.utf8.allSatisfy({ $0.isUnreserved || "+=,@".utf8.contains($0) })
        else { throw AWSKeyFailure("the machine has no role") }
        return try AWSKeys(
            json: body(of: ServiceExchange(url: Self.url(endpoint, folder + role), lines: lines)))
    }

    private static func url(_ endpoint: SourceURL, _ path: String) throws(AWSKeyFailure) -> SourceURL {
        do throws(SourceURLError) {
            return try SourceURL(parsing: endpoint.normalized + path)
        } catch {
            throw AWSKeyFailure("its URL is too long")
        }
    }

    // MARK: - Answers

    private func text(of exchange: ServiceExchange) throws(AWSKeyFailure) -> String {
        String(decoding: try body(of: exchange), as: UTF8.self)
    }

    private func body(of exchange: ServiceExchange) throws(AWSKeyFailure) -> [UInt8] {
        var exchange = exchange
        exchange.timeout = timeout
        let service = "\(exchange.url.host):\(exchange.url.port)"
        let answer: ServiceExchange.Answer
        do throws(ServiceExchange.Failure) {
            answer = try exchange.run()
        } catch {
            throw AWSKeyFailure("\(service): \(error.reason)")
        }
        guard answer.status == 200 else {
            let code = XMLText(String(decoding: answer.body, as: UTF8.self)[...]).element("Code")
            throw AWSKeyFailure(
                "\(service): status \(answer.status)\(code.map { " \($0.prefix(64))" } ?? "")")
        }
        return answer.body
    }

    private func read(_ place: SecretPlace) throws(AWSKeyFailure) -> Secret {
        do throws(OriginRuleError.Reason) {
            let secret = try place.read()
            guard FieldSyntax.isValue(secret.text) else {
                throw OriginRuleError.Reason("a file holds control characters")
            }
            return secret
        } catch {
            throw AWSKeyFailure(error.text)
        }
    }
}
