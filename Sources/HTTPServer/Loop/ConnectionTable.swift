// SPDX-License-Identifier: Apache-2.0

/// A loop's connections by number. The lower half of a number is its slot, the upper half counts the slot's
/// uses, so that a late event or answer never reaches the slot's next connection.
struct ConnectionTable {
    private struct Slot {
        var connection: Connection?
        var uses: UInt64 = 0
    }

    private var slots: [Slot] = []
    private var free: [Int] = []

    /// Numbers below are the loop's own descriptors.
    private static let firstNumber: UInt64 = 16
    private static let slotMask: UInt64 = 0xFFFF_FFFF

    /// How many there are.
    var count: Int { slots.count - free.count }

    /// Whether there are no connections.
    var isEmpty: Bool { free.count == slots.count }

    /// Hot path: the connection with this number, unless it has ended.
    subscript(_ number: UInt64) -> Connection? {
        let index = Int(number & Self.slotMask) - Int(Self.firstNumber)
        guard slots.indices.contains(index), let connection = slots[index].connection,
            connection.number == number
        else { return nil }
        return connection
    }

    /// Adds the connection that `make` returns for its number.
    mutating func insert(_ make: (UInt64) -> Connection) -> Connection {
        if free.isEmpty {
            slots.append(Slot())
            free.append(slots.count - 1)
        }
        let index = free.removeLast()
        slots[index].uses += 1
        let connection = make((slots[index].uses & 0x3FFF_FFFF) << 32 | (UInt64(index) + Self.firstNumber))
        slots[index].connection = connection
        return connection
    }

    /// Removes a connection.
    mutating func remove(_ number: UInt64) {
        guard self[number] != nil else { return }
        let index = Int(number & Self.slotMask) - Int(Self.firstNumber)
        slots[index].connection = nil
        free.append(index)
    }

    /// All connections; a copy, so that they may be removed during the iteration.
    var all: [Connection] { slots.compactMap(\.connection) }
}
