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

// PutBack sends a write, unless another writer takes it back each time: then it returns an apiwriter.Contested, which is a conflict,
// until the pause is over, and the shell reconciles again by then. what names the object and its part, wanted what is written
// there. A write that fails does not count, nor one that wants something else than those before. (CT-12)
func (p *Sync) PutBack(what, wanted string, send func() error) error {
	return p.Own.Contests.PutBack(apiwriter.Write{Owner: p.Key, Object: what, Wanted: wanted, Send: send,
		Tell: func(reason, message string) { p.Event(corev1.EventTypeWarning, reason, "%s", message) }}, p.now)
}

// passing is what differs between two patches that want the same: versions, also that of the SidecarSet which a hot upgrade notes on a
// pod, and times.
var passing = regexp.MustCompile(`(\\?"(?:resourceVersion|version(?:alt)?\.sidecarset\.kruise\.io/[^"\\]*)\\?":\\?")[^"\\]*|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)

// Wanted is what a patch wants: all but the version on which it is made, and times, which are empty.
func Wanted(patch []byte) string { return string(passing.ReplaceAll(patch, []byte("$1"))) }

// Changed is what a merge patch wants, as Wanted says it, but for what the object has already: of that, nothing was taken back. The
// object is given as JSON.
func Changed(object, patch []byte) (string, error) {
	var is, wanted map[string]any
	if err := errors.Join(json.Unmarshal(object, &is), json.Unmarshal(patch, &wanted)); err != nil {
		return "", err
	}
	dropEqual(wanted, is)
	text, err := json.Marshal(wanted)
	return Wanted(text), err
}

// dropEqual takes from a patch what an object has already.
func dropEqual(patch, object map[string]any) {
	for key, value := range patch {
		below, isMap := value.(map[string]any)
		found, _ := object[key].(map[string]any)
		if isMap && found != nil {
			dropEqual(below, found)
		}
		if isMap && len(below) == 0 || reflect.DeepEqual(value, object[key]) {
			delete(patch, key)
		}
	}
}

// noted are the labels and annotations of a pod that a patch changes, as they are before. A note that is renewed has another time
// by then; one that is taken back has the old one.
func noted(pod *corev1.Pod, patch []byte) (string, error) {
	var changes struct {
		Metadata struct {
			Labels, Annotations map[string]any
		}
	}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return "", err
	}
	have := func(all map[string]string, named map[string]any) map[string]string {
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(key, _ string) bool { _, found := named[key]; return !found })
		return all
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"labels": have(pod.Labels, changes.Metadata.Labels), "annotations": have(pod.Annotations, changes.Metadata.Annotations)}})
	return string(text), err
}

// Difference is what a write of a status changes, from which values to which. Writers share some statuses: the same is wanted
// again only if all that is changed has come back to what it was. Times that are written do not count: they are those of the write.
func Difference(before, after any) (string, error) {
	old, err := fields(before)
	if err != nil {
		return "", err
	}
	wanted, err := fields(after)
	if err != nil {
		return "", err
	}
	old, wanted = byName(old).(map[string]any), byName(wanted).(map[string]any)
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

// byName is a value whose lists of objects with names or types of their own are maps by those.
func byName(of any) any {
	switch of := of.(type) {
	case map[string]any:
		out := make(map[string]any, len(of))
		for key, value := range of {
			out[key] = byName(value)
		}
		return out
	case []any:
		out := map[string]any{}
		for _, element := range of {
			key := apiwriter.NameIn(element)
			if _, twice := out[key]; key == "" || twice {
				return of
			}
			out[key] = byName(element)
		}
		return out
	}
	return of
}
