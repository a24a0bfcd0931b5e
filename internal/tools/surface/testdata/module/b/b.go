package b

import "example.com/m/a"

type caller struct{}

func (caller) Call() {}

var X = func() int { a.Run(caller{}); _ = a.Low; r := a.Used(); return r.Read + r.Deep }()
