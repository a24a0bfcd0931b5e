// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// probeOutcome is what one run of a probe has found out.
type probeOutcome struct {
	// ContainerID is the container that was found, empty for none. CreatedAt and StartedAt are its times; the latter is zero if
	// it has not been asked for.
	ContainerID          string
	CreatedAt, StartedAt time.Time
	// Ended says that the container has ended.
	Ended bool
	// Result is Succeeded or Failed, or empty for no result; Reason then says why there is none, for the log alone.
	Result v1alpha1.ProbeState
	Reason string
	// Message says in the agent's own words why the probe has failed, Output what the command printed.
	Message, Output string
	// Retry is when there may be a result, if that is known; zero otherwise.
	Retry time.Time
	// At is when the run ended.
	At time.Time
}

// after returns what is known of a probe after a run with this outcome. Spec says how many results in a row it takes. (PPM-4.3,
// PPM-4.6)
func (p Probe) after(o *probeOutcome, spec *corev1.Probe) Probe {
	p.Retry = o.Retry
	if o.ContainerID == "" {
		return p
	}
	p.meet(o)
	switch {
	case o.Ended:
		p.Result, p.Count = "", 0
		p.become(v1alpha1.ProbeFailed, "", o.At)
		p.say(fmt.Sprintf("Container(%s) is Non-running", p.Container), "", o.At)
	case o.Result != "":
		if p.Result != o.Result {
			p.Result, p.Count = o.Result, 0
		}
		threshold := spec.FailureThreshold
		if o.Result == v1alpha1.ProbeSucceeded {
			threshold = spec.SuccessThreshold
		}
		if p.Count++; p.Count >= max(threshold, 1) {
			p.Count = max(threshold, 1) // it need not grow
			p.become(o.Result, "", o.At)
			p.say(o.Message, o.Output, o.At)
		}
	}
	return p
}

// meet notes the container of a run. What is known of another one is not known of it. An agent that has started again goes on
// with what was reported, if the container was there already. (PPM-4.6, PPM-4.8)
func (p *Probe) meet(o *probeOutcome) {
	if p.ContainerID == o.ContainerID {
		if !o.StartedAt.IsZero() {
			p.StartedAt = o.StartedAt
		}
		return
	}
	reported := p.ContainerID == "" && p.State != "" && !o.CreatedAt.Truncate(time.Second).After(p.Since)
	p.ContainerID, p.StartedAt, p.Result, p.Count = o.ContainerID, o.StartedAt, "", 0
	if !reported {
		p.become(v1alpha1.ProbeUnknown, "", o.At)
	}
}

// say notes the words of the last run that said what is known. (PPM-4.7)
func (p *Probe) say(message, output string, at time.Time) {
	p.Message, p.Output, p.ProbedAt = message, output, at
}

// become changes the state. One that is what it was keeps its words and times. (PPM-4.8)
func (p *Probe) become(state v1alpha1.ProbeState, message string, at time.Time) {
	if p.State == state {
		return
	}
	p.State, p.Message, p.Output, p.ProbedAt, p.Since = state, message, "", at, at
}
