package display

import "time"

// View is what is shown of a workload at one moment.
type View struct {
	// Step says what is going on, such as "partition 50%: half of the pods move".
	Step string
	// Elapsed is how long the step takes already; 0: not shown.
	Elapsed time.Duration

	// Replicas is the number of pods wanted.
	Replicas int
	// Updated is how many are at the update revision, Ready how many are
	// available, Unavailable how many are missing or not Ready.
	Updated, Ready, Unavailable int
	// MaxUnavailable is how many may be unavailable; negative: not shown.
	MaxUnavailable int
	// MostUnavailable is the most that were at any moment; negative: not shown.
	MostUnavailable int

	// Rows are the pods, in the order in which they are shown.
	Rows []Row
	// Notes stand below the table: what is wrong with the workload as a whole.
	Notes []string
}

// Row is a pod.
type Row struct {
	Pod      string
	Revision string // short
	Image    string
	// State in a word, such as "ready" or "ImagePullBackOff"; Mood is how that is to be taken.
	State    string
	Mood     Mood
	Restarts int32
	Node, IP string
	// Wait is why the pod does not move, nil where it does not wait. Pods with
	// the same reason share a line.
	Wait *Wait
}

// Wait is a reason to wait.
type Wait struct {
	// Rule names what holds the pod, such as "Partition".
	Rule string
	// Message says it in words.
	Message string
}

// Mood is what a state means to a person.
type Mood int

// How a state is to be taken.
const (
	Old     Mood = iota // works, at the old revision
	Changed             // works, at the new revision
	Moving              // on its way
	Broken              // will not get any further
)
