package a

var _ = Alone
