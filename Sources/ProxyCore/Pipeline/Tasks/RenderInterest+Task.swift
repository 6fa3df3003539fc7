// SPDX-License-Identifier: Apache-2.0

import Primitives
import Rendering

extension RenderInterest {
    /// The interest of the current task's client.
    convenience init(_ priority: FetchPriority?) {
        self.init(FetchContext.current.client, priority ?? .normal)
    }

    /// Adds the current task's client.
    func join(_ priority: FetchPriority?) {
        join(FetchContext.current.client, priority ?? .normal)
    }
}
