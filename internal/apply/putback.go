// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/apiwriter"
)

// ContestedEvent is the reason of the Warning about what another writer changes whenever it is written. (CT-12)
const ContestedEvent = "Contested"

// mostQuiet is how often something is put back before an event says so.
const mostQuiet = 3

// errNotSent says that a write was not made.
var errNotSent = errors.New("not sent")

// PutBack sends a write, unless another writer takes it back each time: then it returns an apiwriter.Contested, which is a conflict,
// until the pause is over, and the shell reconciles again by then. what names the object and its part, wanted what is written
// there. A write that fails does not count, nor one that wants something else than the last. (CT-12)
func (p *Sync) PutBack(what, wanted string, send func() error) error {
	if p.Own.Contests.Waits(p.Key, what, wanted, p.now()) {
		return apiwriter.NewContested(what)
	}
	if err := send(); err != nil {
		if errors.Is(err, errNotSent) {
			return nil
		}
		return err
	}
	if times := p.Own.Contests.Wrote(p.Key, what, wanted, p.now()); times >= mostQuiet {
		p.Event(corev1.EventTypeWarning, ContestedEvent, "Another writer takes back each write of %s, which is made again less and less often, every 5 minutes in the end", what)
	}
	return nil
}

// precondition is the version of the object that a patch asks for.
var precondition = regexp.MustCompile(`"resourceVersion":"[^"]*",?`)

// passing is what differs between two patches that want the same.
var passing = regexp.MustCompile(`\\?"resourceVersion\\?":\\?"[^"\\]*\\?",?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// Wanted is what a patch wants: all but the version on which it is made, and times.
func Wanted(patch []byte) string { return string(passing.ReplaceAll(patch, nil)) }

// difference is what a write of a status changes, from which values to which. Writers share some statuses: the same is wanted
// again only if all that is changed has come back to what it was. Times that are written do not count: they are those of the write.
func difference(before, after any) (string, error) {
	old, err := fields(before)
	if err != nil {
		return "", err
	}
	wanted, err := fields(after)
	if err != nil {
		return "", err
	}
	differ(old, wanted)
	was, err := json.Marshal(old)
	if err != nil {
		return "", err
	}
	is, err := json.Marshal(wanted)
	return string(was) + Wanted(is), err
}

// differ takes from two objects what is the same in both.
func differ(before, after map[string]any) {
	for _, key := range slices.Collect(maps.Keys(after)) {
		from, _ := before[key].(map[string]any)
		into, _ := after[key].(map[string]any)
		if from != nil && into != nil {
			differ(from, into)
		}
		if reflect.DeepEqual(before[key], after[key]) {
			delete(before, key)
			delete(after, key)
		}
	}
}
