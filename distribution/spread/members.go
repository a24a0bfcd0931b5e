// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Matched reads which subset of which WorkloadSpread a pod says it belongs to; false if it
// says nothing that can be read. (WS-4)
func Matched(pod *corev1.Pod) (v1alpha1.MatchedWorkloadSpread, bool) {
	var m v1alpha1.MatchedWorkloadSpread
	text := pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation]
	if text == "" || json.Unmarshal([]byte(text), &m) != nil || m.Name == "" || m.Subset == "" {
		return v1alpha1.MatchedWorkloadSpread{}, false
	}
	return m, true
}

// annotation is what MatchedWorkloadSpreadAnnotation says of a pod.
func annotation(ws *v1alpha1.WorkloadSpread, subset, uid string) string {
	data, _ := json.Marshal(v1alpha1.MatchedWorkloadSpread{Name: ws.Name, Subset: subset, UID: uid})
	return string(data)
}

// members tells quickly which subset of a WorkloadSpread a pod is in.
type members struct {
	ws       *v1alpha1.WorkloadSpread
	prefixes []string // of annotations as they are written, by subset
}

func newMembers(ws *v1alpha1.WorkloadSpread) *members {
	m := &members{ws: ws, prefixes: make([]string, len(ws.Spec.Subsets))}
	for i := range ws.Spec.Subsets {
		m.prefixes[i] = strings.TrimSuffix(annotation(ws, ws.Spec.Subsets[i].Name, ""), "}")
	}
	return m
}

// The answers of subset beside the index of one.
const (
	elsewhere = -1 // it names no subset of the WorkloadSpread
	removed   = -2 // it names one that is not in the spec
)

// subset is the index of the subset of a pod. (WS-4)
func (m *members) subset(pod *corev1.Pod) int {
	text := pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation]
	if text == "" {
		return elsewhere
	}
	for i, prefix := range m.prefixes {
		if rest, found := strings.CutPrefix(text, prefix); found && (rest == "}" || strings.HasPrefix(rest, `,"uid":"`)) {
			return i
		}
	}
	matched, readable := Matched(pod)
	if !readable || matched.Name != m.ws.Name {
		return elsewhere
	}
	if i := m.named(matched.Subset); i != elsewhere {
		return i
	}
	return removed
}

// named is the index of the subset of a name; elsewhere for none. Of several, the first.
func (m *members) named(subset string) int {
	for i := range m.ws.Spec.Subsets {
		if m.ws.Spec.Subsets[i].Name == subset {
			return i
		}
	}
	return elsewhere
}

// ReservedFor is how long a pod is counted that was assigned and is not seen. (WS-7)
const ReservedFor = 30 * time.Second

// Reservation is a pod that was assigned to a subset and may not be seen yet. (WS-7)
type Reservation struct {
	// Key is the name of the pod, or what the annotation says as uid if it had none.
	Key string
	// Subset is the name of the subset.
	Subset string
	// Owner is the UID of the pod's controller, Revision the label of its revision.
	Owner    types.UID
	Revision string
	// Since is when the pod was assigned. Zero: not known, and it is never taken for refused.
	Since time.Time
	// Expires is until when it counts.
	Expires time.Time
}

// Expired tells whether a reservation no longer counts. (WS-7)
func (r *Reservation) Expired(now time.Time) bool { return now.After(r.Expires) }

// Seen returns which of the reservations are of pods that are there, by their keys. (WS-7)
func Seen(reservations []Reservation, pods []*corev1.Pod) map[string]bool {
	if len(reservations) == 0 {
		return nil
	}
	keys := make(map[string]bool, len(reservations))
	for i := range reservations {
		keys[reservations[i].Key] = false
	}
	for _, pod := range pods {
		if _, reserved := keys[pod.Name]; reserved {
			keys[pod.Name] = true
		}
		if matched, readable := Matched(pod); readable && matched.UID != "" {
			if _, reserved := keys[matched.UID]; reserved {
				keys[matched.UID] = true
			}
		}
	}
	return keys
}
