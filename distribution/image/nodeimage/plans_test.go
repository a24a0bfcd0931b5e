// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows what is planned at noon for the node n1 and its NodeImage, whose image is nginx. To accept a change of behaviour, run the
// test with -rewrite and read the difference. What more is said of an object are words of testdata/words.yaml.
//
//	plan                  plans for what the lines after it say. Arguments: ready=10s (for how long the node has been; 1h otherwise),
//	                      notready=1h, unknown=1h, silent (the node reports nothing), going, virtual, nodeless, imageless (no NodeImage),
//	                      fake (a NodeImage that needs no node), leaving (a NodeImage), creation=10s and response=10m (of Timing), pulls
//	                      (pods pull, which have labels and annotations of the manager's with "marked"), per-namespace=1, generation=3, observed=2
//	                      and whole (shows pods as they are created, and changes as they are sent). Lines:
//	task 1 of a bank/b    a task of a tag, or as redis/1 of one of another image, with its owners. After "with": version=2, age=1m, and of its
//	                      policy ttl=60, timeout=600, backoff=3 and deadline=60; without age it is of no time, without the others it has no policy.
//	status 1 Pulling      what is reported of a tag. After the phase: version=0, began=15s, ended=1m (before noon); after "says" the message
//	job a                 a job, in the namespace default or, as bank/a, in another. After it: over, never, going, image=nginx:2, secrets=s,
//	                      sandbox=x (labels and annotations of that value), always (the pull policy)
//	first-sync TEXT       what the status says of the first sync
//	empty                 the image stands in the NodeImage without tasks
//	refers shop/s copy:shop/s copy:shop/s:batch
//	                      references of the image to secrets: to one, to the copy of one, and in a mode
//	sandbox a=b           labels and annotations of its sandbox
//	pod bank/a 1 10s      the pod of an attempt for a job, and its age. After it, what it has come to
//	refused bank/a 1      the API server has refused such a pod
//	labels zone=two       of the node; "image-labels" of the NodeImage
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := snapshot(nodeImage())
			l := &lines{t, s, map[string]*v1alpha1.ImagePullJob{}}
			for line := range strings.Lines(d.Input) {
				l.read(strings.Fields(line))
			}
			images.CountTasks(&s.NodeImage.Status, &s.NodeImage.Spec)
			for _, arg := range d.CmdArgs {
				l.argument(arg.String())
			}
			return showPlan(t, d, l.s)
		})
	})
}

// lines are those of a script, from which a snapshot is made.
type lines struct {
	t    *testing.T
	s    *Snapshot
	jobs map[string]*v1alpha1.ImagePullJob
}

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", noon)

func (l *lines) argument(word string) {
	switch key, value, _ := strings.Cut(word, "="); {
	case key == "creation":
		l.s.Timing.CreationDelay = patches.Duration(l.t, value)
	case key == "response":
		l.s.Timing.ResponseTimeout = patches.Duration(l.t, value)
	case patches.Has[corev1.Node](words, word):
		l.s.Node = patches.Changed(words, l.s.Node, word)
	case patches.Has[v1alpha1.NodeImage](words, word):
		l.s.NodeImage = patches.Changed(words, l.s.NodeImage, word)
	default:
		l.s = patches.Changed(words, l.s, word)
	}
}

// values are those of words with a value.
func values(words []string) map[string]string {
	values := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		values[key] = value
	}
	return values
}

func (l *lines) read(said []string) {
	n := l.s.NodeImage
	switch said[0] {
	case "labels":
		l.s.Node.Labels = values(said[1:])
	case "image-labels":
		n.Labels = values(said[1:])
	case "job":
		j := patches.Changed(words, job(said[1]), said[2:]...)
		l.jobs[said[1]], l.s.Jobs[j.UID] = j, j
	case "task":
		name, tag := imageAndTag(said[1])
		n.Spec.Images = with(n.Spec.Images, name, func(i *v1alpha1.ImageSpec) { i.Tags = append(i.Tags, task(tag, said[2:])) })
	case "status":
		name, tag := imageAndTag(said[1])
		n.Status.ImageStatuses = with(n.Status.ImageStatuses, name, func(i *v1alpha1.ImageStatus) {
			i.Tags = append(i.Tags, status(tag, said[2:]))
		})
	case "sandbox":
		n.Spec.Images = with(n.Spec.Images, "nginx", func(i *v1alpha1.ImageSpec) {
			i.SandboxConfig = &v1alpha1.SandboxConfig{Labels: values(said[1:]), Annotations: values(said[1:])}
		})
	case "refers":
		n.Spec.Images = with(n.Spec.Images, "nginx", func(i *v1alpha1.ImageSpec) { i.PullSecrets = referencesTo(said[1:]) })
	case "pod":
		pod := attemptOf(l.jobs[said[1]], int32(patches.Number(l.t, said[2])))
		l.s.Pods = append(l.s.Pods, patches.Changed(words, pod, append([]string{"age=" + said[3]}, said[4:]...)...))
	case "refused":
		of := pullTaskOf(int32(patches.Number(l.t, said[2])))
		l.s.Refusals = append(l.s.Refusals, Refusal{Task: of, Job: l.jobs[said[1]].UID, At: noon, Message: "quota"})
	default:
		l.s.NodeImage = patches.Changed(words, n, strings.Join(said, "="))
	}
}

// imageAndTag are those before and after a slash. Without one, it is a tag of nginx.
func imageAndTag(text string) (name, tag string) {
	if name, tag, both := strings.Cut(text, "/"); both {
		return name, tag
	}
	return "nginx", text
}

// with are images of which one is changed.
func with[I any](images map[string]I, name string, change func(*I)) map[string]I {
	if images == nil {
		images = map[string]I{}
	}
	image := images[name]
	change(&image)
	images[name] = image
	return images
}

// referencesTo are references to secrets, or to copies of them.
func referencesTo(words []string) (all []v1alpha1.ReferenceObject) {
	for _, word := range words {
		text, isCopy := strings.CutPrefix(word, "copy:")
		text, mode, _ := strings.Cut(text, ":")
		namespace, name, _ := strings.Cut(text, "/")
		ref := v1alpha1.ReferenceObject{Namespace: namespace, Name: name, Mode: mode}
		if isCopy {
			ref.Name, _ = images.CopyName(types.NamespacedName{Namespace: namespace, Name: name})
			ref.Namespace = v1alpha1.DaemonConfigNamespace
		}
		all = append(all, ref)
	}
	return all
}

// task is a task of its owners, changed by words.
func task(tag string, said []string) v1alpha1.ImageTagSpec {
	one := &v1alpha1.ImageTagSpec{Tag: tag, Version: 1}
	for _, word := range said {
		switch {
		case word == "of", word == "with":
		case patches.Has[v1alpha1.ImageTagSpec](words, word):
			one = patches.Changed(words, one, word)
		default:
			one.OwnerReferences = append(one.OwnerReferences, images.TaskOwner(job(word)))
		}
	}
	return *one
}

// status is a phase of version 1, changed by words up to "says", and a message behind that.
func status(tag string, said []string) v1alpha1.ImageTagStatus {
	one := &v1alpha1.ImageTagStatus{Tag: tag, Phase: v1alpha1.ImagePullPhase(said[0]), Version: 1}
	if i := slices.Index(said, "says"); i >= 0 {
		said, one.Message = said[:i], strings.Join(said[i+1:], " ")
	}
	return *patches.Changed(words, one, said[1:]...)
}
