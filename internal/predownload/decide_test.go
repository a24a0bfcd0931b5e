// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

const (
	created = inplacev1alpha1.PreDownloadCreatedLabel
	ignored = inplacev1alpha1.PreDownloadIgnoredLabel
	minimum = inplacev1alpha1.PreDownloadMinUpdatedReadyPodsAnnotation
)

// outcome is a rollout.PreDownload with the jobs by name.
type outcome struct {
	Create []string
	Label  string
	Delete []string
	Reason string
}

func outcomeOf(d rollout.PreDownload) outcome {
	o := outcome{Label: d.Label, Delete: d.Delete, Reason: d.Reason}
	for _, job := range d.Create {
		o.Create = append(o.Create, job.Name+"="+job.Spec.Image)
	}
	return o
}

func TestDecide(t *testing.T) {
	pulls := outcome{Create: []string{"web-new-main=nginx:2"}, Label: created}
	ignores := func(reason string) outcome { return outcome{Label: ignored, Reason: reason} }
	waits := func(reason string) outcome {
		return outcome{Reason: "annotation apps.kruise.io/image-predownload-min-updated-ready-pods: images are pulled ahead once " + reason}
	}
	annotate := func(value string) func(*Input) {
		return func(in *Input) { in.workload = workload(map[string]string{minimum: value}) }
	}
	with := func(changes ...func(*Input)) func(*Input) {
		return func(in *Input) {
			for _, change := range changes {
				change(in)
			}
		}
	}
	updated := func(n int32) func(*Input) { return func(in *Input) { in.updatedReady = func() int32 { return n } } }
	from := func(templates ...*corev1.PodTemplateSpec) func(*Input) {
		return func(in *Input) {
			in.From = nil
			for _, template := range templates {
				in.From = append(in.From, rev(t, "old", template))
			}
		}
	}
	added := template("nginx:2", "log:1")
	added.Spec.Containers = added.Spec.Containers[:1]
	init := template("nginx:2", "log:1")
	init.Spec.InitContainers[0].Image = "init:0"
	none := func(in *Input) { in.From = nil }
	daemon := func(in *Input) { in.PodPerNode, in.inPlace = true, false }

	for _, test := range []struct {
		name string
		set  func(*Input)
		want outcome
	}{
		{"IP-29: an update in place", func(*Input) {}, pulls},
		{"IP-29: decided already, jobs created", func(in *Input) { in.to.Labels[created] = "true" }, outcome{}},
		{"IP-29: decided already, ignored", func(in *Input) { in.to.Labels[ignored] = "" }, outcome{}},
		{"IP-29: ReCreate", func(in *Input) { in.inPlace = false },
			ignores("the update strategy recreates pods instead of updating them in place")},
		{"IP-29: 3 replicas", func(in *Input) { in.Replicas = 3 },
			ignores("there are only 3 replicas, and images are pulled ahead for more than 3")},
		{"IP-29: 4 replicas", func(in *Input) { in.Replicas = 4 }, pulls},
		{"IP-29: maxUnavailable reaches the replicas", func(in *Input) { in.MaxUnavailable = intstr.FromInt32(10) },
			ignores("all 10 pods are updated at once: partition is 0 and maxUnavailable is 10")},
		{"IP-29: maxUnavailable 100%", func(in *Input) { in.MaxUnavailable = intstr.FromString("100%") },
			ignores("all 10 pods are updated at once: partition is 0 and maxUnavailable is 100%")},
		{"IP-29: maxUnavailable 99% is rounded down", func(in *Input) { in.MaxUnavailable = intstr.FromString("99%") }, pulls},
		{"IP-29: maxUnavailable reaches the replicas, with a partition",
			func(in *Input) { in.MaxUnavailable, in.Partition = intstr.FromInt32(10), 1 }, pulls},
		{"IP-29: maxUnavailable cannot be read", func(in *Input) { in.MaxUnavailable = intstr.FromString("all") }, pulls},
		{"IP-29: not possible in place", from(added),
			ignores("the pods cannot be updated in place: add /spec/containers/1: a container cannot be added to a running pod")},
		{"IP-29: the old revision cannot be read", func(in *Input) { in.From[0].Data.Raw = []byte("{") },
			ignores("whether the pods can be updated in place is unknown: ControllerRevision shop/web-old: revision data is not a pod template: unexpected end of JSON input")},
		{"IP-29: a DaemonSet that recreates 2 pods", with(daemon, func(in *Input) { in.Replicas = 2; in.MaxUnavailable = intstr.FromInt32(1) }), pulls},
		{"IP-29: a DaemonSet that updates all pods at once", with(daemon, func(in *Input) { in.MaxUnavailable = intstr.FromInt32(10) }),
			ignores("all 10 pods are updated at once: partition is 0 and maxUnavailable is 10")},

		{"IP-30: both images differ", from(template("nginx:1", "log:0")),
			outcome{Create: []string{"web-new-main=nginx:2", "web-new-log=log:1"}, Label: created}},
		{"IP-30: no image differs", from(template("nginx:2", "log:1")), outcome{Label: created}},
		{"IP-30: no selector", func(in *Input) { in.selector = nil },
			ignores("spec.selector: is missing; the nodes to pull to are those of the pods that it selects")},
		{"IP-30: a DaemonSet, a new container", with(daemon, from(added)),
			outcome{Create: []string{"web-new-log=log:1"}, Label: created}},
		{"IP-30: a DaemonSet, images that differ from any old revision",
			with(daemon, from(template("nginx:2", "log:1"), template("nginx:2", "log:0"), template("nginx:1", "log:1"))),
			outcome{Create: []string{"web-new-main=nginx:2", "web-new-log=log:1"}, Label: created}},
		{"IP-30: a DaemonSet, init containers are not covered", with(daemon, from(init)), outcome{Label: created}},
		{"IP-E2: an init container changes", from(init),
			ignores("the pods cannot be updated in place: replace /spec/initContainers/0/image: init containers run before the others, when the pod is created")},
		{"IP-30: a DaemonSet, an old revision that cannot be read is passed over",
			with(daemon, func(in *Input) { in.From = append(in.From, &appsv1.ControllerRevision{}) }), pulls},
		{"IP-30: a DaemonSet, the new revision cannot be read",
			with(daemon, func(in *Input) { in.to.Data.Raw = nil }),
			ignores(`ControllerRevision shop/web-new: revision data is empty, want {"spec":{"template":...}}`)},

		{"IP-31: too few updated pods", with(annotate("3"), updated(2)), waits("3 pods (3) are updated and ready; there are 2")},
		{"IP-31: enough updated pods", with(annotate("3"), updated(3)), pulls},
		{"IP-31: a percentage is rounded up", with(annotate("21%"), updated(2)), waits("3 pods (21%) are updated and ready; there are 2")},
		{"IP-31: a percentage is reached", with(annotate("20%"), updated(2)), pulls},
		{"IP-31: zero", annotate("0"), pulls},
		{"IP-31: unparsable is the default", annotate("many"), pulls},
		{"IP-31: negative is the default", annotate("-1"), pulls},
		{"IP-31: empty is the default", annotate(""), pulls},
		{"IP-31: the wait comes before a reason to ignore", with(annotate("1"), func(in *Input) { in.inPlace = false }),
			waits("1 pods (1) are updated and ready; there are 0")},
		{"IP-31: no effect on a DaemonSet", with(daemon, annotate("3")), pulls},

		{"IP-32: no update, no jobs", arrived, outcome{}},
		{"IP-32: no update of a DaemonSet without pods, no jobs", with(daemon, none), outcome{}},
		{"IP-32: no update, all jobs are deleted", func(in *Input) { arrived(in); in.Jobs = []string{"a", "b"} },
			outcome{Delete: []string{"a", "b"}}},
		{"IP-32: jobs stay during an update", func(in *Input) { in.to.Labels[created] = "true"; in.Jobs = []string{"a"} }, outcome{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t)
			test.set(in)
			got := decide(in)
			if diff := cmp.Diff(test.want, outcomeOf(got)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			checkDecidedOnce(t, in, got)
		})
	}
}

// arrived has no pod come from another revision.
func arrived(in *Input) { in.From = []*appsv1.ControllerRevision{in.to} }

// checkDecidedOnce decides again after a decision was applied. (IP-29)
func checkDecidedOnce(t *testing.T, in *Input, d rollout.PreDownload) {
	t.Helper()
	if d.Label == "" {
		return
	}
	in.to.Labels[d.Label] = "true"
	if diff := cmp.Diff(outcome{}, outcomeOf(decide(in))); diff != "" {
		t.Errorf("IP-29: with the label %s there is more to do (-want +got):\n%s", d.Label, diff)
	}
}

func TestTheInputIsNotChanged(t *testing.T) {
	in, want := input(t), input(t)
	d := decide(in)
	d.Create[0].Labels["app"] = "changed"
	d.Create[0].Spec.PodSelector.MatchLabels["app"] = "changed"
	if diff := cmp.Diff(want, in, cmp.AllowUnexported(Input{})); diff != "" {
		t.Errorf("the decision and its input share memory (-want +got):\n%s", diff)
	}
}

func BenchmarkDecide(b *testing.B) {
	undecided, decidedInput, settled := input(b), input(b), input(b)
	decidedInput.to.Labels[created] = "true"
	arrived(settled)
	for _, bench := range []struct {
		name string
		in   *Input
	}{{"new revision", undecided}, {"decided", decidedInput}, {"settled", settled}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decide(bench.in)
			}
		})
	}
}
