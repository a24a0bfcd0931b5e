// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
)

// TestNewRevision makes the revision of a template. (DS-CR1, DS-CR2, DS-CR3)
func TestNewRevision(t *testing.T) {
	set := setOf(t, "metadata: {annotations: {a: b}}")
	plan := NewPlan(&Snapshot{Set: set, Now: noon})
	r := plan.Revisions.Create
	if got, want := string(r.Data.Raw), `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"image":"v2","name":"main","resources":{}}]}}}}`; got != want {
		t.Errorf("data %s, want %s", got, want)
	}
	hash := strings.TrimPrefix(r.Name, "web-")
	if hash != revision.Hash(r.Data.Raw, nil) || r.Labels["controller-revision-hash"] != hash || len(r.Labels) != 2 || r.Annotations["a"] != "b" ||
		!metav1.IsControlledBy(r, set) || plan.Status.DaemonSetHash != hash || plan.Status.CurrentRevision != r.Name {
		t.Errorf("revision %s with labels %v and annotations %v, status %+v", r.Name, r.Labels, r.Annotations, plan.Status)
	}
}

// TestRevisions finds and drops revisions. (DS-CR4, DS-CR5, DS-CR6)
func TestRevisions(t *testing.T) {
	s := place(t, setOf(t, "spec: {revisionHistoryLimit: 0}"), "n1:v2")
	s.Revisions[0].OwnerReferences = nil
	if plan := NewPlan(s); len(plan.Revisions.Adopt) != 1 || plan.Revisions.Adopt[0] != s.Revisions[0] {
		t.Errorf("DS-CR4: adopts %v", plan.Revisions.Adopt)
	}
	s = place(t, setOf(t, "spec: {revisionHistoryLimit: 0}"), "n1:v2")
	if plan := NewPlan(s); len(plan.Revisions.Delete) != 2 || plan.Status.CurrentRevision != plan.Revisions.Update.Name {
		t.Errorf("DS-CR6: deletes %v, current %s", plan.Revisions.Delete, plan.Status.CurrentRevision)
	}
	s = place(t, setOf(t, "spec: {revisionHistoryLimit: 0}"), "n1:v2 n2:v1")
	if plan := NewPlan(s); len(plan.Revisions.Delete) != 1 || plan.Revisions.Delete[0] != s.Revisions[0] {
		t.Errorf("DS-CR6: deletes %v", plan.Revisions.Delete)
	}

	back := place(t, newSet(), "n1:v2 n2:v1")
	back.Set.Spec.Template.Spec.Containers[0].Image = "v1"
	if plan := NewPlan(back); plan.Revisions.Raise == nil || plan.Revisions.Raise.Name != back.Revisions[1].Name || plan.Revisions.RaiseTo != 4 || show(plan) != "-n1:v2 Update" {
		t.Errorf("DS-CR5: a rollback raises %v, and does %s", plan.Revisions.Raise, show(plan))
	}
}

// TestDuplicates: pods of a revision with the same data only get another label. (DS-CR5)
func TestDuplicates(t *testing.T) {
	s := place(t, newSet(), "n1:v2 n2:v2")
	twin := s.Revisions[2].DeepCopy()
	twin.Name, twin.Revision, twin.UID = "web-twin", 0, "uid-of-twin"
	s.Revisions = append(s.Revisions, twin)
	s.Pods[0].Labels["controller-revision-hash"] = "twin"
	plan := NewPlan(s)
	if show(plan) != "~n1 Identify" || plan.Status.UpdatedNumberScheduled != 2 || slices.Contains(plan.Revisions.Delete, twin) {
		t.Fatalf("plan %s, status %s, deletes %v", show(plan), showStatus(plan.Status), plan.Revisions.Delete)
	}
	if label := plan.Patch[0].Patch.Labels["controller-revision-hash"]; label == nil || *label != plan.Status.DaemonSetHash {
		t.Errorf("the label becomes %v", label)
	}
	s.Pods[0].Labels["controller-revision-hash"] = plan.Status.DaemonSetHash
	if plan := NewPlan(s); !slices.Contains(plan.Revisions.Delete, twin) {
		t.Errorf("deletes %v, want %s too", plan.Revisions.Delete, twin.Name)
	}
}

// TestCurrentThatFitsNoNode: a node that only the present template fits gets a pod of it. (DS-5)
func TestCurrentThatFitsNoNode(t *testing.T) {
	set := setOf(t, rolling+"partition: 2}}}")
	s := place(t, set, "other n1:v1")
	old := set.Spec.Template.DeepCopy()
	old.Spec.Containers[0].Image, old.Spec.NodeSelector = "v1", map[string]string{"zone": "a"}
	data, err := revision.Data(old)
	if err != nil {
		t.Fatal(err)
	}
	s.Revisions[1].Data.Raw = data
	if got := show(NewPlan(s)); got != "+other:v2" {
		t.Errorf("plan %s", got)
	}
	s.Revisions[1].Data.Raw = []byte("{}")
	if got := show(NewPlan(s)); !strings.HasPrefix(got, "+other:v2 problem FailedCreatePod: create pods of revision ") {
		t.Errorf("with a revision that cannot be read: plan %s", got)
	}
}

// TestRevisionOfInPlaceUpdateIsGone: its pods are recreated. (DS-13)
func TestRevisionOfInPlaceUpdateIsGone(t *testing.T) {
	s := place(t, setOf(t, inPlace), "n1:v1+gate")
	s.Revisions = s.Revisions[2:]
	if got := show(NewPlan(s)); got != "-n1:v1 Update" {
		t.Errorf("plan %s", got)
	}
}

// TestRecordOfInPlaceUpdate: a pod records the hash of the revision. (DS-13)
func TestRecordOfInPlaceUpdate(t *testing.T) {
	s := place(t, setOf(t, inPlace), "n1:v1+gate")
	plan := NewPlan(s)
	record := plan.Patch[0].Patch.Annotations["apps.kruise.io/inplace-update-state"]
	if record == nil || !strings.Contains(*record, `"revision":"`+plan.Status.DaemonSetHash+`"`) {
		t.Errorf("the record is %v", record)
	}
	if label := plan.Patch[0].Patch.Labels["controller-revision-hash"]; label == nil || *label != plan.Status.DaemonSetHash {
		t.Errorf("the label becomes %v", label)
	}
}

// TestCollision counts collisions. (DS-CR7)
func TestCollision(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		set := testSet("web")
		data, err := revision.Data(&set.Spec.Template)
		c.Must(err)
		foreign := revisionOf(t, set, "v1")
		foreign.Name, foreign.OwnerReferences, foreign.UID = "web-"+revision.Hash(data, nil), nil, ""
		foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "web", UID: "another", Controller: new(true)}}
		_, err = c.Kube.AppsV1().ControllerRevisions("default").Create(t.Context(), foreign, metav1.CreateOptions{})
		c.Must(err)
		c.Create(set, "{}")
		c.Settle()
		if count := c.get().Status.CollisionCount; count == nil || *count != 1 {
			t.Errorf("collisionCount %v", count)
		}
		if pods := c.Pods(); len(pods) != 1 || pods[0].Labels["controller-revision-hash"] != revision.Hash(data, new(int32(1))) {
			t.Errorf("%d pods", len(pods))
		}
	})
}

// TestPreDownload pulls images ahead for all kinds of updates, while old pods are there. (DS-18)
func TestPreDownload(t *testing.T) {
	for text, nodes := range map[string]string{"{}": "n1:v1 n2:v2", surge: "n1:v1 n2:v1 n3:v0"} {
		s := place(t, setOf(t, text), nodes)
		s.Features.PreDownload = true
		plan := NewPlan(s)
		if len(plan.PreDownload.Create) != 1 || plan.PreDownload.Create[0].Spec.Image != "v2" {
			t.Errorf("%s: pulls %v, since %s", nodes, plan.PreDownload.Create, plan.PreDownload.Reason)
		}
	}
	s := place(t, newSet(), "n1:v2 n2")
	s.Features.PreDownload, s.Jobs = true, []string{"web-main"}
	if plan := NewPlan(s); !slices.Equal(plan.PreDownload.Delete, s.Jobs) {
		t.Errorf("deletes %v", plan.PreDownload.Delete)
	}
	s = place(t, setOf(t, rolling+"maxUnavailable: 100%}}}"), "n1:v1 n2:v1")
	s.Features.PreDownload = true
	if plan := NewPlan(s); len(plan.PreDownload.Create) > 0 || plan.PreDownload.Label == "" {
		t.Errorf("all at once: pulls %v", plan.PreDownload.Create)
	}
	for limit, pulls := range map[string]bool{"90%": false, "80%": true, "4": true, "5": false} { // rounded up, as the update does (IP-29)
		s = place(t, setOf(t, rolling+"maxUnavailable: "+limit+"}}}"), "n1:v1 n2:v1 n3:v1 n4:v1 n5:v1")
		s.Features.PreDownload = true
		if plan := NewPlan(s); (len(plan.PreDownload.Create) == 1) != pulls || plan.PreDownload.Label == "" {
			t.Errorf("maxUnavailable %s of 5: pulls %v, since %s", limit, plan.PreDownload.Create, plan.PreDownload.Reason)
		}
	}
	s = place(t, setOf(t, "{spec: {updateStrategy: {type: OnDelete}}}"), "n1:v1 n2:v1") // without rollingUpdate, which OpenKruise reads
	s.Features.PreDownload = true
	if plan := NewPlan(s); len(plan.PreDownload.Create) != 1 {
		t.Errorf("OnDelete: pulls %v, since %s", plan.PreDownload.Create, plan.PreDownload.Reason)
	}
}

// TestTakeOver has revisions of other hashes and names, as OpenKruise gives them. Pods have such a hash and a template
// generation. The pods stay, and the status is the only write. (DS-CR3)
func TestTakeOver(t *testing.T) {
	const hash = "85d9f6c4b7"
	s := place(t, newSet(), "n1:v2 n2:v2 n3:v2")
	ours := strings.TrimPrefix(s.Revisions[2].Name, "web-")
	s.Revisions = s.Revisions[2:]
	s.Revisions[0].Name, s.Revisions[0].Labels = "web-"+hash, map[string]string{"app": "web", "controller-revision-hash": hash}
	for _, pod := range s.Pods {
		if pod.Labels["controller-revision-hash"] != ours || ours == hash {
			t.Fatalf("labels %v of a pod, want the hash %s", pod.Labels, ours)
		}
		pod.Labels["controller-revision-hash"] = hash
		pod.Labels["pod-template-generation"] = "3"
	}
	s.Set.Status.CurrentRevision = "" // which OpenKruise does not know
	plan := NewPlan(s)
	if got := show(plan); got != "" || plan.Revisions.Any() {
		t.Errorf("planned %q, revisions %+v", got, plan.Revisions)
	}
	if plan.Status == nil || plan.Status.DaemonSetHash != hash || plan.Status.CurrentRevision != "web-"+hash || plan.Status.UpdatedNumberScheduled != 3 {
		t.Errorf("status %+v", plan.Status)
	}
}
