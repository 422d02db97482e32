"""Methods of users' classes, called in loops: by native code, as functions, as long as they are what they were."""

import copy

from tests.programs.harness import program


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.entries = 0

    def deposit(self, amount):
        self.balance += amount
        self.entries += 1

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError(f"{amount} of {self.balance}")
        self.balance -= amount
        self.entries += 1
        return self.balance

    def transfer(self, other, amount):
        self.withdraw(amount)
        other.deposit(amount)
        return self

    def scaled(self, factor=2, offset=1):
        return self.balance * factor + offset

    def __eq__(self, other):
        return vars(self) == vars(other)


class Savings(Account):
    def deposit(self, amount):
        super().deposit(amount)
        self.entries += 10


class Slotted:
    __slots__ = ("total",)

    def __init__(self, total):
        self.total = total

    def add(self, x):
        self.total += x
        return self.total

    def __eq__(self, other):
        return self.total == other.total


class Tree:
    def __init__(self, key):
        self.key = key
        self.left = self.right = None

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
                return 1
            return 1 + self.left.insert(key)
        if self.right is None:
            self.right = Tree(key)
            return 1
        return 1 + self.right.insert(key)

    def depth(self):
        deepest = 0
        for child in (self.left, self.right):
            if child is not None:
                deepest = max(deepest, child.depth())
        return deepest + 1


@program(
    lambda: (Account(1), [1, 2, 3] * 20),
    lambda: (Account(0.5), [0.25] * 30),
    lambda: (Savings(1), [1, 2] * 30),
    lambda: (Account(2**62), [2**62] * 3),
    lambda: (Account("a"), ["b"] * 30),
    lambda: (Account(1), [1, None, 2]),
)
def deposits(account, amounts):
    for amount in amounts:
        account.deposit(amount)
    for amount in amounts:
        account.deposit(amount + amount)
    return account


@program(
    lambda: (Account(30), [5, 100, 7, 2, 900] * 12),
    lambda: (Account(30.0), [50.0] * 40),
    lambda: (Account(1000), [1] * 40),
)
def withdrawals(account, amounts):
    refused = []
    for amount in amounts:
        try:
            left = account.withdraw(amount)
        except ValueError as error:
            refused.append(str(error))
        else:
            refused.append(left)
    return account, refused


@program(lambda: (Account(50), [5, 7, 2, 9] * 12), lambda: (Account(500), [5] * 30))
def withdrawals_that_fail(account, amounts):
    total = 0
    for amount in amounts:
        total += account.withdraw(amount)
    return account, total


@program(
    lambda: (Account(30), Account(2), 40),
    lambda: (Account(400.5), Savings(2), 40),
    lambda: (Account(400), None, 40),
)
def transfers(account, other, n):
    done = 0
    for i in range(n):
        try:
            account.transfer(other, i).transfer(other, 1)
            done += 1
        except ValueError:
            account, other = other, account
    return account, other, done


@program(lambda: (Account(3), 40), lambda: (Account(1.5), 40))
def defaults_and_keywords(account, n):
    total = 0
    for i in range(n):
        total += account.scaled() + account.scaled(i) + account.scaled(i, offset=2 * i)
    return total


@program(lambda: (Slotted(0), 60), lambda: (Slotted(0.5), 60), lambda: (Slotted("a"), 3))
def slots(x, n):
    total = 0
    for i in range(n):
        total += x.add(i * 2)
    return x, total


@program(lambda: ([(7919 * i) % 101 for i in range(100)],), lambda: ([3, 2, 1, 0.5],))
def trees(keys):
    root = Tree(50)
    steps = 0
    for key in keys:
        steps += root.insert(key)
    return steps, root.depth()


@program(lambda: (Account(1), 60))
def hidden_by_an_attribute(account, n):
    notes = []
    for i in range(n):
        if i == n // 2:
            account.deposit = notes.append
        account.deposit(i + 1)
    del account.deposit
    account.deposit(1)
    return account, notes


@program(lambda: (Account(1), 60))
def replaced_in_the_class(account, n):
    before = Account.deposit
    for i in range(n):
        if i == n // 2:
            Account.deposit = lambda self, amount: before(self, -amount)
        account.deposit(i + 1)
    Account.deposit = before
    return account


@program(lambda: (Account(1), 60))
def replaced_by_an_argument(account, n):
    before = Account.deposit

    def amount(i):
        Account.deposit = before if i % 2 else (lambda self, x: before(self, -x))
        return i

    for i in range(n):
        account.deposit(amount(i))
    Account.deposit = before
    return account


@program(lambda: (Account(1), 60))
def of_another_class(account, n):
    for i in range(n):
        if i == n // 2:
            account.__class__ = Savings
        account.deposit(i)
    return account


@program(lambda: (Account(1), 60))
def with_a_dict(account, n):
    other = copy.copy(account)
    for i in range(n):
        other.deposit(i)
        other.deposit(i * 2)
    return account, other
