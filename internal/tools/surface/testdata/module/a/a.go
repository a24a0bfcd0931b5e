package a

func Used() Result { return Result{} }
func Shown()       {}
func Tested()      {}
func Planted()     { planted() }
func planted()     {}

// Result is named by no user, who has it from Used.
type Result struct {
	Read, Unread int
	Encoded      int `json:"encoded"`
	Inner
}

type Inner struct{ Deep int }

func (Result) Error() string { return "" }
func (Result) Lonely()       {}

type Level int

const (
	Low Level = iota
	High
)

const Alone = 1

type Plan struct{ Steps []Step }
type Step struct{ Why Reason }
type Reason string

const Because Reason = "Because"

type Caller interface{ Call() }

func Run(Caller) {}
