// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
)

// PutBack sends a write, unless another writer takes it back each time. Then it returns an error of apiwriter.NewContested, which is a conflict,
// until the pause is over, and the shell reconciles again by then. what names the object and its part, wanted what is written
// there. A write that fails does not count, nor one that wants something else than those before. (CT-12)
func (p *Sync) PutBack(what, wanted string, send func() error) error {
	return p.Put(apiwriter.Write{Object: what, Wanted: wanted, Send: send})
}

// Put is PutBack for a note that is renewed by itself: the write says what is found and what is sent. (CT-12)
func (p *Sync) Put(w apiwriter.Write) error {
	w.Owner, w.Tell = p.Key, func(reason, message string) { p.Event(corev1.EventTypeWarning, reason, "%s", message) }
	return p.Own.Contests.PutBack(w, p.now)
}

// wantedOfPod is what a patch of a pod wants, as Wanted says it. Of annotations that keep what was found it is only that they are there.
func (w *Writer) wantedOfPod(patch []byte) string {
	patch = blank(patch, inplacev1alpha1.StateAnnotation)
	for _, record := range w.Keeps {
		patch = blank(patch, record)
	}
	return Wanted(patch)
}

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

// noted are the labels and annotations of a pod that a patch changes, as they are before, and as the patch makes them. Both are empty
// if it changes none. A note that is renewed is found as it was left.
func noted(pod *corev1.Pod, patch []byte) (found, sent string, err error) {
	var changes struct {
		Metadata struct {
			Labels, Annotations map[string]any
		}
	}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return "", "", err
	}
	of := changes.Metadata
	if len(of.Labels)+len(of.Annotations) == 0 {
		return "", "", nil
	}
	was, is := [2]map[string]string{{}, {}}, [2]map[string]string{{}, {}}
	for i, named := range []map[string]any{of.Labels, of.Annotations} {
		for key, value := range named {
			if before, there := []map[string]string{pod.Labels, pod.Annotations}[i][key]; there {
				was[i][key] = before
			}
			if text, set := value.(string); set {
				is[i][key] = text
			}
		}
	}
	before, err := json.Marshal(was)
	if err != nil {
		return "", "", err
	}
	after, err := json.Marshal(is)
	return string(before), string(after), err
}

// Difference is what a write of a status changes: to which values, and what goes. Times that are written do not count: they are those of the write.
// Other writers change a shared status, too, as webhooks that book in it: there it tells apart what goes by the values that it had.
func Difference(before, after any, shared bool) (string, error) {
	gone, is, err := difference(before, after, shared)
	return gone + Wanted([]byte(is)), err
}

// difference is what goes and to which values a write of a status changes it, with its times.
func difference(before, after any, shared bool) (gone, is string, err error) {
	old, err := fields(before)
	if err != nil {
		return "", "", err
	}
	wanted, err := fields(after)
	if err != nil {
		return "", "", err
	}
	old, wanted = byName(old).(map[string]any), byName(wanted).(map[string]any)
	differ(old, wanted)
	onlyGone(old, wanted, shared)
	from, err := json.Marshal(old)
	if err != nil {
		return "", "", err
	}
	into, err := json.Marshal(wanted)
	return string(from), string(into), err
}

// onlyGone leaves of what was before only what is not there any more, without its values unless they count.
func onlyGone(before, after map[string]any, values bool) {
	for key, was := range before {
		is, stays := after[key]
		from, below := was.(map[string]any)
		into, _ := is.(map[string]any)
		switch {
		case stays && (!below || into == nil):
			delete(before, key)
		case below && !(values && !stays):
			onlyGone(from, into, values)
			if stays && len(from) == 0 {
				delete(before, key)
			}
		case !values:
			before[key] = nil
		}
	}
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
