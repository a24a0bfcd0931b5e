// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows.
type row struct {
	Errors     []any           // which are joined: see errorOf
	Pod, Claim string          // what was to be created when that failed
	Generated  bool            // the name of the pod
	Changes    string          // of revisions: "none" creates none, "first" the first one, "missing" lacks the current one
	Plan       string          // after how long the next reconcile comes
	Unknown    bool            // a budget could not tell
	By         []string        // what an update changes in a pod
	Shared     bool            // other writers write the status, too
	Patch      json.RawMessage // what is sent
	Text       string          // part of what is sent
	Noted      string          // two notes of a pod have this value
	Before     json.RawMessage // a present status
	After      json.RawMessage // and what it is to become
	Observed   int64           // the generation that a status is about
	Generation int64           // that of the object
	Steps      []string        // see memory
}

// TestRows plays the tables in testdata/rows: see patches.PlayRows. To differences and patches that
// count as the same, the same text stands.
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/rows", func() row { return row{} }, func(t *testing.T, command string, r *row) string {
		switch command {
		case "failures":
			return r.failures(t)
		case "worth-retrying":
			return told(WorthRetrying(r.errors()...))
		case "refused-revision":
			return told(RefusedRevision(r.revisions(), errors.Join(r.errors()...)))
		case "requeue":
			after, err := time.ParseDuration(r.Plan)
			a := &Applier[int]{Sync: (&Writer{}).Begin(pod("web")), Plan: &rollout.Plan{RequeueAfter: after}}
			a.unknown = r.Unknown
			return fmt.Sprint(a.RequeueAfter(), told(err))
		case "difference":
			var before, after availabilityv1alpha1.PodUnavailableBudgetStatus
			err := errors.Join(json.Unmarshal(r.Before, &before), json.Unmarshal(r.After, &after))
			text, failed := Difference(&before, &after, r.Shared)
			return text + told(errors.Join(err, failed))
		case "status-patch":
			return r.statusPatch()
		case "noted":
			pod := pod("web-0")
			pod.Labels, pod.Annotations = map[string]string{"app": "web"}, map[string]string{"note": r.Noted, "other": r.Noted}
			found, sent, err := noted(pod, r.Patch)
			return fmt.Sprintf("found %s, sent %s%s", found, sent, told(err))
		case "wanted":
			if !json.Valid([]byte(Wanted(r.Patch))) {
				t.Errorf("%s is no JSON", Wanted(r.Patch))
			}
			return Wanted(r.Patch)
		case "passes":
			return Wanted([]byte(r.Text))
		case "wanted-of-pod":
			return (&Writer{Keeps: []string{"found"}}).wantedOfPod(r.Patch)
		case "changed":
			text, err := Changed(r.Before, r.Patch)
			return text + told(err)
		case "late":
			return fmt.Sprint(IsLate(r.Observed, &metav1.ObjectMeta{Generation: r.Generation}))
		case "version":
			pod := pod("web-0")
			pod.Labels, pod.Annotations = map[string]string{podplan.RevisionLabel: "web-1", "hash": "1"}, map[string]string{"state": "2"}
			return (&Writer{VersionedBy: r.By}).version(pod)
		case "remembered":
			return newMemory(t).play(r.Steps)
		}
		t.Fatalf("no table of %s", command)
		return ""
	})
}

func told(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// errorOf is an error: the name of a failure, or a text. The name may follow other text and a colon. A list is of errors that are joined.
func errorOf(of any) error {
	var joined []error
	if list, is := of.([]any); is {
		for _, each := range list {
			joined = append(joined, errorOf(each))
		}
		return errors.Join(joined...)
	}
	text := fmt.Sprint(of)
	if err := failure(text); err != nil {
		return err
	}
	if before, name, _ := strings.Cut(text, ": "); failure(name) != nil {
		return fmt.Errorf("%s: %w", before, failure(name))
	}
	return errors.New(text)
}

func (r *row) errors() (all []error) {
	for _, each := range r.Errors {
		all = append(all, errorOf(each))
	}
	return all
}

// failures are what conditions report.
func (r *row) failures(t *testing.T) string {
	var failures Failures
	err := errors.Join(r.errors()...)
	if r.Pod != "" {
		err = &creationError{name: r.Pod, claim: r.Claim, generated: r.Generated, err: err}
	}
	if got := failures.Add("Failed", err); got != err {
		t.Errorf("it returns %v, want what it was given", got)
	}
	var out []string
	for _, f := range failures {
		out = append(out, f.Condition+" "+f.Err.Error())
	}
	return strings.Join(out, "\n")
}

func (r *row) revisions() *revision.Changes {
	sole := history("web-1", "nginx:1")
	switch r.Changes {
	case "none":
		return &revision.Changes{Current: sole}
	case "first":
		return &revision.Changes{Create: sole, Current: sole}
	case "missing":
		return &revision.Changes{Create: sole, Missing: "web-0"}
	}
	return &revision.Changes{Create: history("web-2", "nginx:2"), Current: sole}
}

// statusPatch is the patch of the status of a workload that has these fields.
func (r *row) statusPatch() string {
	type status struct {
		Replicas       int32             `json:"replicas"`
		Revision       string            `json:"revision,omitempty"`
		CollisionCount *int32            `json:"collisionCount,omitempty"`
		Images         map[string]string `json:"images,omitempty"`
	}
	var before, after status
	err := errors.Join(json.Unmarshal(r.Before, &before), json.Unmarshal(r.After, &after))
	patch, failed := StatusPatch(Observed{UID: "u", ResourceVersion: "7"}, before, &after)
	return string(patch) + told(errors.Join(err, failed))
}

func TestStatusesThatAreNone(t *testing.T) {
	for _, bad := range []any{func() {}, "text", json.RawMessage("{")} {
		if _, err := StatusPatch(Observed{}, bad, bad); err == nil {
			t.Errorf("no error for a status that is %T", bad)
		}
	}
}
