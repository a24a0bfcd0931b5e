// SPDX-License-Identifier: Apache-2.0

package rollout

import "fmt"

// Status is how far an object is from its spec, as the object alone tells. RolloutStatus of a kind's package returns it.
type Status struct {
	// Phase is how far the object is.
	Phase Phase
	// Message says in kubectl's words what is waited for, or why waiting does not help. If a partition holds pods back, it
	// says how many are updated. Empty: the phase says it all.
	Message string
}

// Phase is a state of a rollout.
type Phase string

// The phases of a rollout.
const (
	// Unobserved: the controller has not seen the present spec yet.
	Unobserved Phase = "Unobserved"
	// InProgress: the controller works on it. Message says what is missing.
	InProgress Phase = "InProgress"
	// Failed: waiting does not help. Message says why.
	Failed Phase = "Failed"
	// Complete: the spec is reached, as far as a partition lets it.
	Complete Phase = "Complete"
	// ByUsers: by its strategy, no controller updates the pods. Message names that.
	ByUsers Phase = "ByUsers"
)

// Done tells whether there is nothing to wait for.
func (s Status) Done() bool { return s.Phase == Complete }

// String says it on one line, as in "in progress: 2 out of 3 new pods have been updated".
func (s Status) String() string {
	words := map[Phase]string{Unobserved: "in progress: the controller has not seen the present spec yet", InProgress: "in progress",
		Failed: "failed", Complete: "complete", ByUsers: "left to users"}[s.Phase]
	if s.Message == "" {
		return words
	}
	return words + ": " + s.Message
}

// ByUser is the status for a strategy by which no controller updates pods, once the controller has seen the spec.
func (s Status) ByUser(strategy string) Status {
	if s.Phase == Unobserved || s.Phase == Failed {
		return s
	}
	return Status{ByUsers, "strategy " + strategy}
}

// Counts are the numbers of pods that tell how far a rollout is.
type Counts struct {
	// Want is how many pods there are to be in all. WantUpdated is how many of them are to be at the update revision: fewer if a
	// partition holds some back.
	Want, WantUpdated int32
	// Have counts the pods there are, Updated those at the update revision, and Ready those of the updated ones that serve.
	Have, Updated, Ready int32
	// AllReady says that Ready counts the pods of all revisions.
	AllReady bool
}

// Status says what is missing first.
func (c Counts) Status() Status {
	wantReady := c.WantUpdated
	if c.AllReady {
		wantReady = c.Want
	}
	switch {
	case c.Updated < c.WantUpdated:
		return Status{InProgress, fmt.Sprintf("%d out of %d new pods have been updated", c.Updated, c.WantUpdated)}
	case c.Have > c.Want:
		return Status{InProgress, fmt.Sprintf("%d old pods are pending termination", c.Have-c.Want)}
	case c.Have < c.Want:
		return Status{InProgress, fmt.Sprintf("%d out of %d pods have been created", c.Have, c.Want)}
	case c.Ready < wantReady:
		return Status{InProgress, fmt.Sprintf("%d of %d updated pods are available", c.Ready, wantReady)}
	case c.WantUpdated < c.Want:
		return Status{Complete, fmt.Sprintf("%d new pods have been updated", c.Updated)}
	}
	return Status{Phase: Complete}
}

// StatusOf is what the numbers say, once the controller has seen the present generation. What is stalled, if that is not empty, has failed.
func StatusOf(generation, observed int64, stalled string, counts Counts) Status {
	switch {
	case observed == 0 || observed < generation:
		return Status{Phase: Unobserved}
	case stalled != "":
		return Status{Failed, stalled}
	}
	return counts.Status()
}
