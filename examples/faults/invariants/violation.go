package invariants

import "fmt"

// Invariant names what must always hold.
type Invariant string

// What must always hold.
const (
	// Ownership: nothing is touched that no workload owns, and no pod is given away.
	Ownership Invariant = "ownership"
	// Surge: there are never more pods than replicas and maxSurge allow.
	Surge Invariant = "surge"
	// Availability: no pod is taken out of service beyond maxUnavailable.
	Availability Invariant = "availability"
	// Partition: pods move to the template and nowhere else, and what the partition or a pause holds back stays.
	Partition Invariant = "partition"
	// Needless: no pod is created or deleted for no reason.
	Needless Invariant = "needless"
	// Hooks: what a lifecycle hook holds waits for it.
	Hooks Invariant = "hooks"
	// InPlace: an in-place update changes images and nothing else.
	InPlace Invariant = "in place"
	// Claims: claims live as long as the policy says, and never serve two pods.
	Claims Invariant = "claims"
	// Identity: a name and an ordinal belong to one pod at a time, and a pod that may still run has its name.
	Identity Invariant = "identity"
	// Order: pods come and go in the order that OrderedReady promises.
	Order Invariant = "order"
)

// Violation says which invariant does not hold, and why.
type Violation struct {
	Invariant Invariant
	Message   string
}

func (v Violation) String() string { return string(v.Invariant) + ": " + v.Message }

// verdict is what is wrong with one change.
type verdict struct {
	about string // the object
	gap   bool
	wrong []Violation
}

// expect finds an invariant violated unless something holds.
func (v *verdict) expect(holds bool, invariant Invariant, format string, arguments ...any) {
	if !holds {
		v.wrong = append(v.wrong, Violation{invariant, v.about + ": " + fmt.Sprintf(format, arguments...)})
	}
}
