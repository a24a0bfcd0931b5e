// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// planned shows what a plan does beside the status.
func planned(p *Plan) (lines []string) {
	for _, s := range p.Start {
		lines = append(lines, fmt.Sprintf("start %s v%d for %v", s.Reference, s.Version, s.Timeout))
	}
	for _, a := range p.Adopt {
		lines = append(lines, fmt.Sprintf("adopt %s:%s v%d", a.Image, a.Tag, a.Version))
	}
	for _, c := range p.Cancel {
		lines = append(lines, fmt.Sprintf("cancel %s:%s: %s", c.Image, c.Tag, c.Reason))
	}
	for _, f := range p.Forget {
		lines = append(lines, fmt.Sprintf("forget %s:%s", f.Image, f.Tag))
	}
	for _, w := range p.Waiting {
		lines = append(lines, fmt.Sprintf("wait %s: %s", w.Name, w.Reason))
	}
	for _, f := range p.Finished {
		lines = append(lines, fmt.Sprintf("finished %s:%s failed=%t in %v", f.Image, f.Tag, f.Failed, f.Took))
	}
	if p.RequeueAfter > 0 {
		lines = append(lines, fmt.Sprint("again in ", p.RequeueAfter))
	}
	return lines
}

func pullOf(version int64, edits ...func(*Pull)) Pull {
	p := Pull{Task: Task{"nginx", "1"}, Version: version, Since: now.Add(-10 * time.Second)}
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func isRunning(p *Pull) { p.Running = true }

func usesSecretsOf(namespaces ...string) func(*Pull) {
	return func(p *Pull) { p.Namespaces = namespaces }
}

func failedTimes(n int, ago time.Duration) func(*Pull) {
	return func(p *Pull) { p.Failures, p.Err, p.Ended = n, errors.New("no route"), now.Add(-ago) }
}

func TestPlan(t *testing.T) {
	one := "desired 1 succeeded 0 failed 0 pulling 1"
	pullingOne := []string{one, "nginx:1 v1 Pulling 0%"}
	failedBefore := pullingSince("1", 1, time.Second)
	failedBefore.Message = "no route"
	for _, test := range []struct {
		name   string
		of     *v1alpha1.NodeImage
		pulls  []Pull
		images []*criv1.Image
		want   []string
		status []string // nil: nothing to write
	}{
		{name: "nothing to do", of: newNodeImage()},
		{name: "no NodeImage: its pulls end", pulls: []Pull{pullOf(1, isRunning)}, want: []string{"cancel nginx:1: the task has been taken away"}},
		{name: "IMG-2.4 difference: a pull is reported at once", of: newNodeImage(wants("nginx", "1")),
			want: []string{"start nginx:1 v1 for 10m0s"}, status: pullingOne},
		{name: "IMG-3.2: all tags of all images, the oldest tasks first", of: newNodeImage(wants("nginx", "1"), wants("nginx", "0"), wants("redis", "7", createdAgo(time.Hour))),
			want:   []string{"start redis:7 v1 for 10m0s", "start nginx:0 v1 for 10m0s", "start nginx:1 v1 for 10m0s"},
			status: []string{"desired 3 succeeded 0 failed 0 pulling 3", "nginx:0 v1 Pulling 0%", "nginx:1 v1 Pulling 0%", "redis:7 v1 Pulling 0%"}},
		{name: "IMG-3.2 difference: as many at the same time as may be", of: newNodeImage(wants("a", "1"), wants("b", "1"), wants("c", "1"), wants("nginx", "1", createdAgo(time.Hour))),
			pulls:  []Pull{pullOf(1, isRunning)},
			want:   []string{"start a:1 v1 for 10m0s", "start b:1 v1 for 10m0s", "wait c:1: 3 other pulls are under way, which is as many as may be: of no namespace (3)", "again in 1m0s"},
			status: []string{"desired 4 succeeded 0 failed 0 pulling 4", "a:1 v1 Pulling 0%", "b:1 v1 Pulling 0%", "c:1 v1 Pulling 0%", "nginx:1 v1 Pulling 0%"}},
		{name: "IMG-3.2: a finished task is not pulled again", of: newNodeImage(wants("nginx", "1"), says("nginx", finishedAs("1", 1, "Failed")), counts(1, 0, 1, 0))},
		{name: "IMG-3.2: a higher version is", of: newNodeImage(wants("nginx", "1", version(2)), says("nginx", finishedAs("1", 1, "Succeeded")), counts(1, 1, 0, 0)),
			want: []string{"start nginx:1 v2 for 10m0s"}, status: []string{one, "nginx:1 v2 Pulling 0%"}},
		{name: "IMG-3.2: the version changes: the pull goes on for it", of: newNodeImage(wants("nginx", "1", version(2)), says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, isRunning)}, want: []string{"adopt nginx:1 v2"}, status: []string{one, "nginx:1 v2 Pulling 0%"}},
		{name: "IMG-3.2: also where another namespace asks, too", of: newNodeImage(wants("nginx", "1", version(2), ownedBy("a", "b")), says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, isRunning, usesSecretsOf("a"))}, want: []string{"adopt nginx:1 v2"}, status: []string{one, "nginx:1 v2 Pulling 0%"}},
		{name: "IMG-3.2: but not with secrets of others alone", of: newNodeImage(wants("nginx", "1", version(2), ownedBy("b")), says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, isRunning, usesSecretsOf("a"))}, want: []string{"start nginx:1 v2 for 10m0s", "cancel nginx:1: the task has come to version 2, and this is version 1"}, status: []string{one, "nginx:1 v2 Pulling 0%"}},
		{name: "IMG-3.2: the version changes between two attempts: the next is made at once", of: newNodeImage(wants("nginx", "1", version(2)), says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, failedTimes(3, time.Second))}, want: []string{"start nginx:1 v2 for 10m0s", "forget nginx:1"}, status: []string{one, "nginx:1 v2 Pulling 0%"}},
		{name: "IMG-3.2: the tag is removed: the pull is stopped", of: newNodeImage(says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, isRunning)}, want: []string{"cancel nginx:1: the task has been taken away"}, status: []string{"desired 0 succeeded 0 failed 0 pulling 0"}},
		{name: "IMG-2.4: the watchdog has failed it: the pull is stopped", of: newNodeImage(wants("nginx", "1"), says("nginx", finishedAs("1", 1, "Failed")), counts(1, 0, 1, 0)),
			pulls: []Pull{pullOf(1, isRunning)}, want: []string{"cancel nginx:1: the task is finished: Failed "}},
		{name: "a pull under way, reported", of: newNodeImage(wants("nginx", "1"), says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)), pulls: []Pull{pullOf(1, isRunning)}},
		{name: "a restart of the agent: a pull that was under way begins anew", of: newNodeImage(wants("nginx", "1"), says("nginx", pullingSince("1", 1, time.Second)), counts(1, 0, 0, 1)),
			want: []string{"start nginx:1 v1 for 10m0s"}},
		{name: "IMG-2.5: a restart of the agent: why the last attempt failed is said on", of: newNodeImage(wants("nginx", "1"), says("nginx", failedBefore), counts(1, 0, 0, 1)),
			want: []string{"start nginx:1 v1 for 10m0s"}},
		{name: "IMG-2.5: but not beside a pull that has not failed", of: newNodeImage(wants("nginx", "1"), says("nginx", failedBefore), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, isRunning)}, status: pullingOne},
		{name: "a restart of the agent: a pull that had ended is found", of: newNodeImage(wants("quay.io/web", "1"), says("quay.io/web", pullingSince("1", 1, 4*time.Second)), counts(1, 0, 0, 1)),
			images: []*criv1.Image{onNode("id", "quay.io/web:1")}, want: []string{"finished quay.io/web:1 failed=false in 4s"},
			status: []string{"desired 1 succeeded 1 failed 0 pulling 0", "quay.io/web:1 v1 Succeeded 100% quay.io/web@id"}},
		{name: "IMG-3.3: a success", of: newNodeImage(wants("nginx", "1"), says("nginx", pullingSince("1", 1, 9*time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, func(p *Pull) { p.Succeeded, p.ImageID, p.Ended = true, "sha256:77", now.Add(-time.Second) })},
			want:  []string{"finished nginx:1 failed=false in 8s"}, status: []string{"desired 1 succeeded 1 failed 0 pulling 0", "nginx:1 v1 Succeeded 100% nginx@sha256:77"}},
		{name: "IMG-2.5: no imageID where the runtime does not tell", of: newNodeImage(wants("nginx", "1"), says("nginx", pullingSince("1", 1, 9*time.Second)), counts(1, 0, 0, 1)),
			pulls: []Pull{pullOf(1, func(p *Pull) { p.Succeeded, p.Ended = true, now })},
			want:  []string{"finished nginx:1 failed=false in 9s"}, status: []string{"desired 1 succeeded 1 failed 0 pulling 0", "nginx:1 v1 Succeeded 100%"}},
		{name: "a success that has been reported is forgotten", of: newNodeImage(wants("nginx", "1"), says("nginx", finishedAs("1", 1, "Succeeded")), counts(1, 1, 0, 0)),
			pulls: []Pull{pullOf(1, func(p *Pull) { p.Succeeded = true })}, want: []string{"forget nginx:1"}},
		{name: "a name that nobody can pull", of: newNodeImage(wants("Nginx", "1")), want: []string{"finished Nginx:1 failed=true in 0s"},
			status: []string{"desired 1 succeeded 0 failed 1 pulling 0", `Nginx:1 v1 Failed 0% (image "Nginx:1": the name is "library/Nginx", want lower-case letters and digits, with single separators between them)`}},
		{name: "IMG-2.5: what is said of tasks that are gone goes", of: newNodeImage(wants("nginx", "1"), says("nginx", finishedAs("1", 1, "Succeeded")), says("nginx", finishedAs("2", 1, "Failed")), says("redis", finishedAs("7", 1, "Failed")), counts(3, 1, 2, 0)),
			status: []string{"desired 1 succeeded 1 failed 0 pulling 0", "nginx:1 v1 Succeeded 0%"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.images == nil {
				test.images = []*criv1.Image{}
			}
			plan := NewPlan(&Snapshot{NodeImage: test.of, Pulls: test.pulls, Images: test.images, Concurrency: 3, Now: now})
			if diff := cmp.Diff(test.want, planned(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.status, shown(plan.Status)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func counts(desired, succeeded, failed, pulling int32) change {
	return func(n *v1alpha1.NodeImage) {
		n.Status.Desired, n.Status.Succeeded, n.Status.Failed, n.Status.Pulling = desired, succeeded, failed, pulling
	}
}

// Time and tries of one task, which has been pulled for 10 s.
func TestPlanAttempts(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits []func(*v1alpha1.ImageTagSpec)
		pull  *Pull
		want  []string
	}{
		{"IMG-3.3: the timeout", edits(timeout(30)), nil, []string{"start nginx:1 v1 for 30s"}},
		{"IMG-3.3: a timeout of 0 is the default", edits(timeout(0)), nil, []string{"start nginx:1 v1 for 10m0s"}},
		{"IMG-3.3: no more than is left to the deadline", edits(timeout(30), deadline(25)), nil, []string{"start nginx:1 v1 for 15s", "again in 15s"}},
		{"IMG-3.3: the deadline counts from the begin, not from createdAt", edits(deadline(11)), nil, []string{"start nginx:1 v1 for 1s", "again in 1s"}},
		{"IMG-3.3: the deadline is over", edits(deadline(10)), nil, []string{"finished nginx:1 failed=true in 10s"}},
		{"IMG-3.3: the deadline is over while an attempt is under way", edits(deadline(10)), ptrTo(pullOf(1, isRunning)),
			[]string{"cancel nginx:1: pulling exceeds the activeDeadlineSeconds", "finished nginx:1 failed=true in 10s"}},
		{"IMG-3.3: the deadline comes before the next attempt", edits(deadline(11)), ptrTo(pullOf(1, failedTimes(3, 2*time.Second))),
			[]string{"wait nginx:1: attempt 4 of 4 is made in 2s; the last one failed: no route", "again in 1s"}},
		{"a deadline beyond all time is none", edits(deadline(1 << 62)), nil, []string{"start nginx:1 v1 for 10m0s"}},
		{"IMG-3.3: 1 s after the first failure", nil, ptrTo(pullOf(1, failedTimes(1, 0))), []string{"wait nginx:1: attempt 2 of 4 is made in 1s; the last one failed: no route", "again in 1s"}},
		{"IMG-3.3: 2 s after the second", nil, ptrTo(pullOf(1, failedTimes(2, time.Second))), []string{"wait nginx:1: attempt 3 of 4 is made in 1s; the last one failed: no route", "again in 1s"}},
		{"IMG-3.3: the pause is over", nil, ptrTo(pullOf(1, failedTimes(2, 2*time.Second))), []string{"start nginx:1 v1 for 10m0s"}},
		{"IMG-3.3: 16 s after the fifth", edits(backoffLimit(9)), ptrTo(pullOf(1, failedTimes(5, 0))), []string{"wait nginx:1: attempt 6 of 10 is made in 16s; the last one failed: no route", "again in 16s"}},
		{"IMG-3.3: 30 s at most", edits(backoffLimit(20)), ptrTo(pullOf(1, failedTimes(20, 0))), []string{"wait nginx:1: attempt 21 of 21 is made in 30s; the last one failed: no route", "again in 30s"}},
		{"IMG-3.3: backoffLimit + 1 attempts, by default 3 + 1, and no pause after the last", nil, ptrTo(pullOf(1, failedTimes(4, 0))), []string{"finished nginx:1 failed=true in 10s"}},
		{"IMG-3.3: a negative backoffLimit is 3", edits(backoffLimit(-1)), ptrTo(pullOf(1, failedTimes(4, 0))), []string{"finished nginx:1 failed=true in 10s"}},
		{"IMG-3.3: backoffLimit 0 is one attempt", edits(backoffLimit(0)), ptrTo(pullOf(1, failedTimes(1, 0))), []string{"finished nginx:1 failed=true in 10s"}},
		{"IMG-3.7: no more than 20 repetitions", edits(backoffLimit(1 << 30)), ptrTo(pullOf(1, failedTimes(21, 0))), []string{"finished nginx:1 failed=true in 10s"}},
		{"IMG-3.7: no longer than an hour", edits(timeout(1 << 30)), nil, []string{"start nginx:1 v1 for 1h0m0s"}},
		{"no policy", edits(func(t *v1alpha1.ImageTagSpec) { t.PullPolicy = nil }), nil, []string{"start nginx:1 v1 for 10m0s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Snapshot{NodeImage: newNodeImage(wants("nginx", "1", test.edits...), says("nginx", pullingSince("1", 1, 10*time.Second))), Images: []*criv1.Image{}, Concurrency: 1, Now: now}
			if test.pull != nil {
				s.Pulls = []Pull{*test.pull}
			}
			plan := NewPlan(s)
			if diff := cmp.Diff(test.want, planned(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			message := plan.Status.ImageStatuses["nginx"].Tags[0].Message
			if over := strings.Contains(test.name, "deadline is over"); over != (message == "pulling exceeds the activeDeadlineSeconds") {
				t.Errorf("message %q", message)
			}
			if test.pull != nil && test.pull.Err != nil && message != "no route" {
				t.Errorf("IMG-2.5: message %q", message)
			}
		})
	}
}

func edits(all ...func(*v1alpha1.ImageTagSpec)) []func(*v1alpha1.ImageTagSpec) { return all }

func ptrTo[T any](v T) *T { return &v }

// IMG-3.3: how an image is found among those of the node, and asked for.
func TestPlanFindsImages(t *testing.T) {
	for _, test := range []struct {
		name, image, tag string
		listed           *criv1.Image
		found            bool
		reference        string
	}{
		{"IMG-3.3: the name as it stands in the task", "quay.io/web", "1", onNode("x", "quay.io/web:1"), true, ""},
		{"IMG-3.3: another tag", "quay.io/web", "2", onNode("x", "quay.io/web:1"), false, "quay.io/web:2"},
		{"IMG-3.3: another registry", "quay.io/web", "1", onNode("x", "docker.io/library/web:1"), false, "quay.io/web:1"},
		{"IMG-3.3 difference: the full name of Docker Hub", "nginx", "1", onNode("x", "docker.io/library/nginx:1"), true, ""},
		{"IMG-3.3 difference: a user of Docker Hub", "team/web", "1", onNode("x", "docker.io/team/web:1"), true, ""},
		{"IMG-3.3 difference: the second name of an image", "nginx", "1", onNode("x", "a:1", "docker.io/library/nginx:1"), true, ""},
		{"IMG-3.3 difference: a digest", "nginx", digest, &criv1.Image{Id: "x", RepoDigests: []string{"docker.io/library/nginx@" + digest}}, true, ""},
		{"IMG-3.3 difference: a digest is pulled as one", "nginx", digest, onNode("x", "nginx:1"), false, "nginx@" + digest},
		{"a name that has no registry", "my_registry.local/web", "1", onNode("x", "my_registry.local/web:1"), true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNodeImage(wants(test.image, test.tag))
			if first := NewPlan(&Snapshot{NodeImage: n, Concurrency: 1, Now: now}); !first.ListImages || first.Start != nil || first.Status != nil {
				t.Errorf("the plan without images is %+v, want it to ask for them", first)
			}
			plan := NewPlan(&Snapshot{NodeImage: n, Images: []*criv1.Image{test.listed}, Concurrency: 1, Now: now})
			status := plan.Status.ImageStatuses[test.image].Tags[0]
			if test.found && (len(plan.Start) > 0 || status.ImageID != test.image+"@x" || status.Progress != 100 || status.CompletionTime == nil) {
				t.Errorf("start %v, status %+v, want it found", plan.Start, status)
			}
			if !test.found && (len(plan.Start) != 1 || plan.Start[0].Reference != test.reference) {
				t.Errorf("start %+v, want %s", plan.Start, test.reference)
			}
		})
	}
}

// IMG-1.14: with the pull policy Always the registry is asked for an image that the node has, and not again once it has answered.
func TestPlanPullsAlways(t *testing.T) {
	for _, test := range []struct {
		policy v1alpha1.ImagePullPolicy
		pulls  []Pull
		start  int
	}{
		{"", nil, 0}, {"IfNotPresent", nil, 0}, {"Sometimes", nil, 0}, {"Always", nil, 1},
		{"Always", []Pull{pullOf(1, func(p *Pull) { p.Succeeded, p.Ended = true, now })}, 0},
	} {
		n := newNodeImage(wants("nginx", "1", func(tag *v1alpha1.ImageTagSpec) { tag.ImagePullPolicy = test.policy }))
		plan := NewPlan(&Snapshot{NodeImage: n, Pulls: test.pulls, Images: []*criv1.Image{onNode("x", "docker.io/library/nginx:1")}, Concurrency: 1, Now: now})
		status := plan.Status.ImageStatuses["nginx"].Tags[0]
		if len(plan.Start) != test.start || (status.CompletionTime == nil) != (test.start == 1) {
			t.Errorf("policy %q, pulls %v: start %v, status %+v", test.policy, test.pulls, plan.Start, status)
		}
	}
}

// What others have written to the status and the agent does not know stays.
func TestPlanKeepsFirstSyncStatus(t *testing.T) {
	n := newNodeImage(wants("nginx", "1"))
	n.Status.FirstSyncStatus = &v1alpha1.SyncStatus{SyncAt: ago(0)}
	plan := NewPlan(&Snapshot{NodeImage: n, Images: []*criv1.Image{}, Concurrency: 1, Now: now})
	if plan.Status.FirstSyncStatus == nil {
		t.Error("IMG-2.5 difference: firstSyncStatus is gone")
	}
	if n.Status.Desired != 0 || n.Status.ImageStatuses != nil {
		t.Errorf("the snapshot was changed: %+v", n.Status)
	}
}

// The secrets and the sandbox of an image go with every attempt, and its owners
// with the end.
func TestPlanHandsOver(t *testing.T) {
	n := newNodeImage(wants("nginx", "1"))
	image := n.Spec.Images["nginx"]
	image.PullSecrets = []v1alpha1.ReferenceObject{{Namespace: "default", Name: "registry"}}
	image.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"a": "b"}}
	n.Spec.Images["nginx"] = image
	plan := NewPlan(&Snapshot{NodeImage: n, Images: []*criv1.Image{}, Concurrency: 1, Now: now})
	want := Start{Task: Task{"nginx", "1"}, Version: 1, Reference: "nginx:1", Timeout: 10 * time.Minute, Secrets: image.PullSecrets, Sandbox: image.SandboxConfig}
	if diff := cmp.Diff([]Start{want}, plan.Start); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
	if got := plan.Status.ImageStatuses["nginx"].Tags[0].StartTime; !got.Equal(&metav1.Time{Time: now}) {
		t.Errorf("IMG-2.5: startTime %v", got)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
