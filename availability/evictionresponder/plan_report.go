// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
)

// A heartbeat is written when the last one is so old, and earlier for another message. Kubernetes asks
// for one in 20 minutes, and for none within 20 seconds of the last one. (EVR-10)
const (
	heartbeatAgain = 5 * time.Minute
	heartbeatLeast = 20 * time.Second
)

// longestMessage is the length of a message, in characters, that is not cut.
const longestMessage = 1000

// wait reports what the Eviction waits for, if that is due. With a note there is always a heartbeat, by which
// the note is known later. (EVR-9)
func (p *planner) wait(reason *rollout.Reason) {
	message := cut(reason.Message)
	_, report := own(p.Eviction)
	wait := rollout.PodWaits(p.Pod, reason)
	if at := p.Eviction.Status.Responders[report].StartTime; at != nil {
		wait.Since = at.Time
	}
	p.plan.Waiting = []rollout.Wait{wait}
	last := p.Eviction.Status.Responders[report]
	due := p.Now
	switch {
	case last.HeartbeatTime == nil || p.plan.Note != nil:
	case ptr.Deref(last.Message, "") == message:
		due = last.HeartbeatTime.Add(heartbeatAgain)
	default:
		due = last.HeartbeatTime.Add(heartbeatLeast)
	}
	if p.Now.Before(due) {
		p.again(due)
		return
	}
	p.plan.Report = &Report{Heartbeat: p.time(), Message: message}
	p.again(p.Now.Add(heartbeatAgain))
}

// complete reports that this responder is through. (EVR-2, EVR-4)
func (p *planner) complete(message string) {
	p.plan.Report = &Report{Heartbeat: p.time(), Completed: true, Message: cut(message)}
}

// time is now, but neither before the start nor before the last heartbeat, which the API server
// would refuse. Its clock may be ahead of ours.
func (p *planner) time() metav1.Time {
	now := metav1.NewTime(p.Now.Truncate(time.Second))
	_, report := own(p.Eviction)
	for _, at := range []*metav1.Time{p.Eviction.Status.Responders[report].StartTime, p.Eviction.Status.Responders[report].HeartbeatTime} {
		if at != nil && now.Before(at) {
			now = *at
		}
	}
	return now
}

// cut shortens a message that is too long.
func cut(message string) string {
	if all := []rune(message); len(all) > longestMessage {
		return string(all[:longestMessage-1]) + "…"
	}
	return message
}
