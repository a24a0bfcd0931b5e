// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// WriteStatus replaces the whole status, unless the workload has changed since
// it was read. Then a reconcile of the newer one is due anyway. before is the
// status as it was observed, or written by this reconcile. What the API server has
// answered already, and the workload is unchanged since, is not written again. A
// CRD that lacks a field would have every reconcile write it in vain. What another writer
// takes back is written again with pauses. (CT-12)
func (p *Sync) WriteStatus(ctx context.Context, before, after any) error {
	last := p.statuses.Get(p.Key)
	if last.version != "" && last.version == p.Version && equality.Semantic.DeepEqual(last.status, after) {
		return nil
	}
	gone, is, err := difference(before, after, p.SharedStatus)
	if err != nil {
		return err
	}
	if !p.TimedStatus {
		is = Wanted([]byte(is))
	}
	wanted := fmt.Sprintf(`{"metadata":{"uid":%q}}%s%s`, p.Workload.GetUID(), gone, is) // another workload of the name wants the same: that is no contest
	return p.PutBack(string(p.Workloads)+"/status", wanted, func() error { return p.replaceStatus(ctx, before, after) })
}

// rewriteStatus writes a status that is there already: it changes nothing, and finds
// out whether the workload is still the one that was observed.
func (p *Sync) rewriteStatus(ctx context.Context, status any) error {
	return p.replaceStatus(ctx, status, status)
}

func (p *Sync) replaceStatus(ctx context.Context, before, after any) error {
	data, err := StatusPatch(Observed{p.Workload.GetUID(), p.Version}, before, after)
	if err != nil {
		return err
	}
	p.intended.Set(p.Key, after)
	version, err := p.Merge(ctx, p.Key, data, "status")
	if apierrors.IsNotFound(err) {
		p.Gone = true
		return nil
	}
	if err != nil {
		p.RecordFailure(UpdateStatus, err)
		return fmt.Errorf("write the status: %w", err)
	}
	p.Wrote(p.Workloads, version)
	p.statuses.Set(p.Key, statusWrite{version, after})
	return nil
}

// statusWrite is a write of a status that was answered.
type statusWrite struct {
	version string // of the workload since
	status  any
}

// IsLate tells whether a status that says which generation of its object was seen last says another than the newest. One
// that says none, 0, is not late. Those of former releases are not written anew for it. Neither are those of a CRD that does
// not have the field, if the API server drops it.
func IsLate(observedGeneration int64, of metav1.Object) bool {
	return observedGeneration != 0 && observedGeneration != of.GetGeneration()
}

// Observed is the metadata of a patch that is refused on any other state of
// the object than the one that was observed. Without a resourceVersion it is refused only on another object.
type Observed struct {
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
}

// StatusPatch is a merge patch from the observed status to the new one, which is refused if the
// object is another than the one observed.
func StatusPatch(of Observed, before, after any) ([]byte, error) {
	return FieldPatch("status", of, before, after)
}

// FieldPatch is a merge patch of a field, such as the spec, from what was observed of it to what is wanted. It is
// refused if the object is another than the one observed. It keeps what the type of the field does not know.
func FieldPatch(field string, of Observed, before, after any) ([]byte, error) {
	old, err := fields(before)
	if err != nil {
		return nil, err
	}
	wanted, err := fields(after)
	if err != nil {
		return nil, err
	}
	removeOthers(wanted, old)
	return json.Marshal(map[string]any{"metadata": of, field: wanted})
}

// removeOthers has a merge patch remove what old has beside it: a merge patch
// keeps what it does not name, at every depth.
func removeOthers(patch, old map[string]any) {
	for field, value := range old {
		wanted, present := patch[field]
		if !present {
			patch[field] = nil
			continue
		}
		into, ok := wanted.(map[string]any)
		if from, both := value.(map[string]any); ok && both {
			removeOthers(into, from)
		}
	}
}

// fields reads a status or another field as sent, integers as integers.
func fields(of any) (fields map[string]any, err error) {
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", of, err)
	}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("encode %T: %w", of, err)
	}
	return fields, nil
}
