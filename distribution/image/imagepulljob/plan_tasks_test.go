// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

func TestPlanHandsOut(t *testing.T) {
	full := func(n *v1alpha1.NodeImage) {
		for i := range v1alpha1.MaxNodeImageImages {
			task(fmt.Sprint("image", i), "1")(n)
		}
	}
	for _, test := range []struct {
		name, spec string
		nodes      []*v1alpha1.NodeImage
		want       []string
		wantRule   rollout.Rule // of the first node that waits
	}{
		{"IMG-1.4: parallelism is 1 by default", "", fresh(3), []string{"n0"}, ruleParallelism},
		{"IMG-1.4: in order", "parallelism: 2", fresh(3), []string{"n0", "n1"}, ruleParallelism},
		{"IMG-1.4: more than there are nodes", "parallelism: 9", fresh(3), []string{"n0", "n1", "n2"}, ""},
		{"IMG-1.4: 0 pauses", "parallelism: 0", fresh(3), []string{}, rollout.RulePaused},
		{"IMG-1.4: less than 0 pauses", "parallelism: -1", fresh(3), []string{}, rollout.RulePaused},
		{"IMG-1.4: a number as a string", `parallelism: "2"`, fresh(3), []string{"n0", "n1"}, ruleParallelism},
		{"IMG-1.4 difference: a percentage is one", "parallelism: 50%", fresh(4), []string{"n0", "n1"}, ruleParallelism},
		{"IMG-1.4 difference: a percentage is rounded up", "parallelism: 1%", fresh(3), []string{"n0"}, ruleParallelism},
		{"IMG-1.4: 0% pauses", "parallelism: 0%", fresh(3), []string{}, rollout.RulePaused},
		{"IMG-1.4: free slots are those without a pull", "parallelism: 2", append(fresh(3), nodeImage("m", given(""))), []string{"n0"}, ruleParallelism},
		{"IMG-1.4: no slot is free", "parallelism: 1", append(fresh(3), nodeImage("m", given(v1alpha1.ImagePhasePulling))), []string{}, ruleParallelism},
		{"IMG-1.4: fewer than are in use", "parallelism: 1", append(fresh(1), nodeImage("m", given("")), nodeImage("o", given(""))), []string{}, ruleParallelism},
		{"IMG-1.4: finished nodes use no slot", "", append(fresh(3), nodeImage("a", given(v1alpha1.ImagePhaseSucceeded)), nodeImage("b", given(v1alpha1.ImagePhaseFailed))), []string{"n0"}, ruleParallelism},
		{"IMG-1.5: failed nodes are not retried", "", []*v1alpha1.NodeImage{nodeImage("b", given(v1alpha1.ImagePhaseFailed))}, []string{}, ""},
		{"IMG-1.5: failed nodes are not retried, type Never", "completionPolicy: {type: Never}", []*v1alpha1.NodeImage{nodeImage("b", given(v1alpha1.ImagePhaseFailed))}, []string{}, ""},
		{"IMG-1.5: type Never serves new nodes", "completionPolicy: {type: Never}", append(fresh(1), nodeImage("a", given(v1alpha1.ImagePhaseSucceeded))), []string{"n0"}, ""},
		{"IMG-2.2: a node that has tasks for 256 images", "parallelism: 2", []*v1alpha1.NodeImage{nodeImage("a", full), nodeImage("b"), nodeImage("c")}, []string{"b", "c"}, ruleTooManyImages},
		{"IMG-2.2: the image is one of 256", "", []*v1alpha1.NodeImage{nodeImage("a", func(n *v1alpha1.NodeImage) { full(n); delete(n.Spec.Images, "image0"); task("nginx", "0")(n) })}, []string{"a"}, ""},
		{"a NodeImage that is being deleted", "", []*v1alpha1.NodeImage{nodeImage("a", func(n *v1alpha1.NodeImage) { n.DeletionTimestamp = at(0) })}, []string{}, ruleNoNodeImage},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(snapshot(newJob(t, test.spec), test.nodes...))
			if diff := cmp.Diff(test.want, assigned(plan)); diff != "" {
				t.Errorf("nodes that get the task (-want +got):\n%s", diff)
			}
			var rule rollout.Rule
			if len(plan.Waiting) > 0 {
				rule = plan.Waiting[0].Reason.Rule
			}
			if rule != test.wantRule {
				t.Errorf("waiting: %v, want the rule %q", plan.Waiting, test.wantRule)
			}
		})
	}
}

func TestPlanMakesTasks(t *testing.T) {
	other := corev1.ObjectReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImagePullJob", Namespace: "default", Name: "other", UID: "other-uid"}
	elsewhere := other
	elsewhere.Namespace = "elsewhere"
	secrets := func(n *v1alpha1.NodeImage) {
		image := n.Spec.Images["nginx"]
		image.PullSecrets = []v1alpha1.ReferenceObject{{Namespace: "kube-system", Name: "a"}, {Namespace: "default", Name: "b"}}
		image.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"old": "1"}}
		n.Spec.Images["nginx"] = image
	}
	const policy = "{timeoutSeconds: 10, backoffLimit: 2}"
	for _, test := range []struct {
		name, spec string
		node       *v1alpha1.NodeImage
		want       string // spec.images[nginx], without the policy of the task
	}{
		{"IMG-1.4: a new task", "", nodeImage("n"),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":1,"imagePullPolicy":"IfNotPresent"}]}`},
		{"IMG-1.4: a new task of a tag that the node has handled", "", nodeImage("n", reports("nginx", "1", 4, v1alpha1.ImagePhaseSucceeded)),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":5,"imagePullPolicy":"IfNotPresent"}]}`},
		{"IMG-1.4: the task of another job", "", nodeImage("n", task("nginx", "1", other)),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[OTHER,MINE],"version":2,"imagePullPolicy":"IfNotPresent"}]}`},
		{"IMG-1.4: a task that nobody owns", "", nodeImage("n", task("nginx", "1")),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":2,"imagePullPolicy":"IfNotPresent"}]}`},
		{"IMG-1.4: tags are sorted", "", nodeImage("n", task("nginx", "2"), task("nginx", "0")),
			`{"tags":[{"tag":"0","createdAt":"2024-05-01T11:59:00Z","version":1},{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":1,"imagePullPolicy":"IfNotPresent"},{"tag":"2","createdAt":"2024-05-01T11:59:00Z","version":1}]}`},
		{"IMG-1.4: the sandbox of the last writer, also none; secrets of others stay, and the job's are its copies", "pullSecrets: [c, b]", nodeImage("n", task("nginx", "1"), secrets),
			`{"pullSecrets":[{"namespace":"kube-system","name":"a"},{"namespace":"kruise-daemon-config","name":"` + copyName("c") + `"},{"namespace":"kruise-daemon-config","name":"` + copyName("b") + `"}],"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":2,"imagePullPolicy":"IfNotPresent"}]}`},
		{"IMG-1.14: the pull policy of the job", "imagePullPolicy: Always", nodeImage("n", task("nginx", "1")),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":2,"imagePullPolicy":"Always"}]}`},
		{"IMG-1.14: that of another namespace, which asks the registry", "imagePullPolicy: IfNotPresent", nodeImage("n", task("nginx", "1", elsewhere), alwaysPulled),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[{"kind":"ImagePullJob","namespace":"elsewhere","name":"other","uid":"other-uid","apiVersion":"apps.kruise.io/v1alpha1"},MINE],"version":2,"imagePullPolicy":"Always"}]}`},
		{"IMG-1.14: the pull policy of the last writer, which is written also if it has none", "", nodeImage("n", task("nginx", "1"), alwaysPulled),
			`{"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":2,"imagePullPolicy":"IfNotPresent"}]}`},
		{"IMG-1.4: the sandbox of the job", "sandboxConfig: {labels: {new: '1'}}", nodeImage("n", task("nginx", "1"), secrets),
			`{"pullSecrets":[{"namespace":"kube-system","name":"a"},{"namespace":"default","name":"b"}],"tags":[{"tag":"1","createdAt":"2024-05-01T12:00:00Z","ownerReferences":[MINE],"version":2,"imagePullPolicy":"IfNotPresent"}],"sandboxConfig":{"labels":{"new":"1"}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.node.DeepCopy()
			s := snapshot(newJob(t, test.spec+"\npullPolicy: "+policy), test.node)
			s.Looks = map[string]Look{"b": {At: noon}, "c": {At: noon}}
			plan := NewPlan(s)
			if len(plan.Assign) != 1 {
				t.Fatalf("assigned: %+v", plan.Assign)
			}
			got := plan.Assign[0].Image.DeepCopy()
			for i := range got.Tags {
				got.Tags[i].PullPolicy = nil
			}
			if diff := cmp.Diff(decode(t, withOwners(test.want)), got); diff != "" {
				t.Errorf("image (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.node); diff != "" {
				t.Errorf("the plan has changed what it was given (-before +after):\n%s", diff)
			}
		})
	}
}

// alwaysPulled has the tasks of a node ask the registry in any case.
func alwaysPulled(n *v1alpha1.NodeImage) {
	for _, image := range n.Spec.Images {
		for i := range image.Tags {
			image.Tags[i].ImagePullPolicy = v1alpha1.ImagePullAlways
		}
	}
}

// IMG-1.14: a job that changes its pull policy changes that of the task on which the node works, and the version stays.
func TestPlanRenewsThePullPolicy(t *testing.T) {
	const policy = "pullPolicy: {timeoutSeconds: 600, backoffLimit: 3}\n"
	for _, test := range []struct {
		name, spec string
		node       *v1alpha1.NodeImage
		want       []v1alpha1.ImagePullPolicy
	}{
		{"none on both sides", policy, nodeImage("n", given("")), nil},
		{"the same on both sides", policy + "imagePullPolicy: Always", nodeImage("n", given(""), alwaysPulled), nil},
		{"one more", policy + "imagePullPolicy: Always", nodeImage("n", given("")), []v1alpha1.ImagePullPolicy{"Always"}},
		{"one less", policy, nodeImage("n", given(""), alwaysPulled), []v1alpha1.ImagePullPolicy{"IfNotPresent"}},
		{"a task without one means that", policy + "imagePullPolicy: IfNotPresent", nodeImage("n", given("")), nil},
		{"a task that has ended", policy + "imagePullPolicy: Always", nodeImage("n", given(succeeded)), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []v1alpha1.ImagePullPolicy
			for _, given := range NewPlan(snapshot(newJob(t, test.spec), test.node)).Assign {
				if tag := given.Image.Tags[0]; tag.Version != 1 {
					t.Errorf("version %d", tag.Version)
				}
				got = append(got, given.Image.Tags[0].ImagePullPolicy)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanLeavesOwnTasksAlone(t *testing.T) {
	n := nodeImage("n", given(""))
	n.Spec.Images["nginx"] = v1alpha1.ImageSpec{Tags: n.Spec.Images["nginx"].Tags, SandboxConfig: &v1alpha1.SandboxConfig{}}
	if plan := NewPlan(snapshot(newJob(t, "pullSecrets: [a]\nparallelism: 5"), n)); len(plan.Assign) > 0 {
		t.Errorf("IMG-1.4: the task lists the job already, and yet: %+v", plan.Assign)
	}
}

// IMG-1.4: the job that asks, or asks otherwise, sets the policy of a task. It takes no time away from a task that it shares with
// other namespaces.
func TestPlanSetsPolicyOfTask(t *testing.T) {
	policyOf := func(plan *Plan) string {
		if len(plan.Assign) == 0 {
			return "none"
		}
		task := plan.Assign[0].Image.Tags[0]
		return fmt.Sprint("v", task.Version, " ", *task.PullPolicy.TimeoutSeconds)
	}
	other, same := mine, mine
	other.Namespace, other.UID, same.UID = "other", "other-uid", "same-uid"
	longer, shorter := newJob(t, "pullPolicy: {timeoutSeconds: 900}"), newJob(t, "pullPolicy: {timeoutSeconds: 10}")
	for name, test := range map[string]struct {
		job  *v1alpha1.ImagePullJob
		node func(*v1alpha1.NodeImage)
		want string
	}{
		"a task of nobody":                        {shorter, task("nginx", "1"), "v2 10"},
		"a task of the namespace":                 {shorter, task("nginx", "1", same), "v2 10"},
		"a task of another namespace":             {shorter, task("nginx", "1", other), "v2 600"},
		"a longer one":                            {longer, task("nginx", "1", other), "v2 900"},
		"the job was changed":                     {longer, task("nginx", "1", mine), "v1 900"},
		"another job has asked since":             {longer, task("nginx", "1", mine, same), "none"},
		"the node has finished, and is let alone": {longer, given(v1alpha1.ImagePhaseFailed), "none"},
	} {
		if got := policyOf(NewPlan(snapshot(test.job, nodeImage("n", test.node)))); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestPlanNamesDigests(t *testing.T) {
	job := newJob(t, "")
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	job.Spec.Image = "docker.io/library/nginx:1@" + digest
	plan := NewPlan(snapshot(job, nodeImage("n")))
	if plan.Image != "nginx" || plan.Tag != digest || plan.Assign[0].Name != "nginx" || plan.Assign[0].Image.Tags[0].Tag != digest {
		t.Errorf("IMG-1.2: %+v", plan)
	}
}

func TestPlanPullPolicy(t *testing.T) {
	for _, test := range []struct {
		name, spec            string
		wantTimeout, wantTry  int32
		wantDeadline          *int64
		ttlAtLeast, ttlAtMost int32
		reserve               time.Duration
	}{
		{"IMG-1.4: without defaults: 600 s three times", "", 600, 3, nil, 2100, 2399, 0},
		{"IMG-1.4: timeout by backoffLimit", "pullPolicy: {timeoutSeconds: 10, backoffLimit: 2}", 10, 2, nil, 320, 619, 0},
		{"IMG-1.4: the deadline of the job", "completionPolicy: {type: Always, activeDeadlineSeconds: 50}", 600, 3, ptr.To[int64](50), 350, 649, 0},
		{"IMG-1.4: the TTL of the job goes before its deadline", "completionPolicy: {activeDeadlineSeconds: 50, ttlSecondsAfterFinished: 7}", 600, 3, ptr.To[int64](50), 307, 606, 0},
		{"IMG-1.4: type Never", "completionPolicy: {type: Never}\npullPolicy: {timeoutSeconds: 10, backoffLimit: 0}", 10, 0, ptr.To[int64](1800), 85800, 86999, 0},
		{"IMG-1.4: type Never, of a pull that may take longer", "completionPolicy: {type: Never}\npullPolicy: {timeoutSeconds: 3600, backoffLimit: 0}", 3600, 0, ptr.To[int64](3600), 85800, 86999, 0},
		{"IMG-1.4: another reserve", "completionPolicy: {ttlSecondsAfterFinished: 7}", 600, 3, nil, 17, 316, 10 * time.Second},
		{"numbers beyond 32 bits", "completionPolicy: {activeDeadlineSeconds: 9223372036854775807}", 600, 3, ptr.To[int64](9223372036854775807), 2147483647, 2147483647, 0},
		{"a negative TTL", "completionPolicy: {ttlSecondsAfterFinished: -2147483648}", 600, 3, nil, 300, 599, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			ttls := sets.New[int32]()
			for i := range 50 {
				s := snapshot(newJob(t, test.spec), nodeImage(fmt.Sprint("n", i)))
				s.TTLReserve = test.reserve
				plan := NewPlan(s)
				if len(plan.Assign) != 1 {
					t.Fatalf("plan: %+v", plan)
				}
				policy := plan.Assign[0].Image.Tags[0].PullPolicy
				if *policy.TimeoutSeconds != test.wantTimeout || *policy.BackoffLimit != test.wantTry || !ptr.Equal(policy.ActiveDeadlineSeconds, test.wantDeadline) {
					t.Errorf("timeout %d, backoffLimit %d, deadline %v", *policy.TimeoutSeconds, *policy.BackoffLimit, policy.ActiveDeadlineSeconds)
				}
				ttl := *policy.TTLSecondsAfterFinished
				if ttl < test.ttlAtLeast || ttl > test.ttlAtMost {
					t.Errorf("TTL %d is not between %d and %d", ttl, test.ttlAtLeast, test.ttlAtMost)
				}
				ttls.Insert(ttl)
			}
			if test.ttlAtLeast < test.ttlAtMost && len(ttls) < 30 {
				t.Errorf("the TTLs of 50 nodes are not spread: %v", ttls.UnsortedList())
			}
		})
	}
}

func TestPlanIsRepeatable(t *testing.T) {
	s := snapshot(newJob(t, "parallelism: 100%"), fresh(20)...)
	if diff := cmp.Diff(NewPlan(s), NewPlan(s)); diff != "" {
		t.Errorf("the same snapshot gives another plan:\n%s", diff)
	}
}

func TestPlanOnceMoreAfterAChangeOfTheImage(t *testing.T) {
	job := newJob(t, "")
	job.Spec.Image = "nginx:2"
	plan := NewPlan(snapshot(job, nodeImage("n", given(v1alpha1.ImagePhaseSucceeded))))
	if len(plan.Assign) != 1 || len(plan.Assign[0].Image.Tags) != 2 {
		t.Errorf("IMG-1.1: the task for the old image stays, the one for the new is added: %+v", plan.Assign)
	}
}

func TestAssignmentPatch(t *testing.T) {
	n := nodeImage("n", task("nginx", "2"), task("redis", "7"))
	image := n.Spec.Images["nginx"]
	image.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"old": "1"}}
	n.Spec.Images["nginx"] = image
	plan := NewPlan(snapshot(newJob(t, "sandboxConfig: {labels: {new: '1'}}"), n))
	data, err := plan.Assign[0].Patch()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata map[string]string
		Spec     struct{ Images map[string]json.RawMessage }
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"uid": "n-uid", "resourceVersion": "3"}, got.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if len(got.Spec.Images) != 1 {
		t.Errorf("the patch touches other images: %s", data)
	}
	var changed struct{ SandboxConfig map[string]map[string]*string }
	if err := json.Unmarshal(got.Spec.Images["nginx"], &changed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]map[string]*string{"labels": {"old": nil, "new": ptr.To("1")}}, changed.SandboxConfig); diff != "" {
		t.Errorf("IMG-1.4: sandboxConfig is replaced, not merged (-want +got):\n%s", diff)
	}
}

func decode(t *testing.T, text string) *v1alpha1.ImageSpec {
	t.Helper()
	image := &v1alpha1.ImageSpec{}
	if err := json.Unmarshal([]byte(text), image); err != nil {
		t.Fatal(err)
	}
	for i := range image.Tags {
		image.Tags[i].CreatedAt.Time = image.Tags[i].CreatedAt.UTC()
	}
	return image
}

// withOwners puts in the references to the job, and to the other one.
func withOwners(text string) string {
	for word, name := range map[string]string{"MINE": "pull", "OTHER": "other"} {
		text = strings.ReplaceAll(text, word, fmt.Sprintf(
			`{"apiVersion":"apps.kruise.io/v1alpha1","kind":"ImagePullJob","namespace":"default","name":%q,"uid":%q}`,
			name, strings.Replace(name, "pull", "job", 1)+"-uid"))
	}
	return text
}
