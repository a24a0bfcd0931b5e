// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// TestPlans shows what is planned at noon for the node n1 and its NodeImage, whose image is nginx. To accept a change of behaviour, run the
// test with -rewrite and read the difference.
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
			s := snapshot(nodeImage(t, ""))
			l := &lines{t, s, map[string]*v1alpha1.ImagePullJob{}}
			for line := range strings.Lines(d.Input) {
				l.read(strings.Fields(line))
			}
			images.CountTasks(&s.NodeImage.Status, &s.NodeImage.Spec)
			for _, arg := range d.CmdArgs {
				l.argument(arg.Key, strings.Join(arg.Vals, ""))
			}
			return showPlan(t, d, s)
		})
	})
}

// lines are those of a script, from which a snapshot is made.
type lines struct {
	t    *testing.T
	s    *Snapshot
	jobs map[string]*v1alpha1.ImagePullJob
}

func (l *lines) argument(key, value string) {
	s := l.s
	switch key {
	case "ready":
		s.Node = node(corev1.ConditionTrue, l.ago(value))
	case "notready":
		s.Node = node(corev1.ConditionFalse, l.ago(value))
	case "unknown":
		s.Node = node(corev1.ConditionUnknown, l.ago(value))
	case "silent":
		s.Node = &corev1.Node{}
	case "going":
		s.Node.DeletionTimestamp = new(at(0))
	case "virtual":
		s.Node.Labels["type"] = "virtual-kubelet"
	case "nodeless":
		s.Node = nil
	case "imageless":
		s.NodeImage = nil
	case "fake":
		s.NodeImage.Labels[v1alpha1.FakeNodeImageLabel] = ""
	case "leaving":
		s.NodeImage.DeletionTimestamp = new(at(0))
	case "creation":
		s.Timing.CreationDelay = l.ago(value)
	case "response":
		s.Timing.ResponseTimeout = l.ago(value)
	case "pulls":
		s.PullPods = pullPods
	case "marked":
		s.PullPods = &PullPods{PauseImage: "pause:1", Annotations: map[string]string{"team": "infra"},
			Labels: map[string]string{"inject": "no", v1alpha1.PullPodLabel: "mine"}}
	case "whole":
	case "per-namespace":
		s.PullPods = &PullPods{PauseImage: "pause:1", PerNamespace: l.number(value)}
	case "generation":
		s.NodeImage.Generation = int64(l.number(value))
	case "observed":
		s.NodeImage.Status.ObservedGeneration = int64(l.number(value))
	default:
		l.t.Fatalf("no argument %s", key)
	}
}

func (l *lines) ago(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

func (l *lines) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// named splits words into those with a value and the others.
func named(words []string) (plain []string, values map[string]string) {
	values = map[string]string{}
	for _, word := range words {
		if key, value, is := strings.Cut(word, "="); is {
			values[key] = value
		} else {
			plain = append(plain, word)
		}
	}
	return plain, values
}

func (l *lines) read(words []string) {
	plain, values := named(words)
	switch words[0] {
	case "labels":
		l.s.Node.Labels = values
	case "image-labels":
		l.s.NodeImage.Labels = values
	case "job":
		l.job(plain[1], append(plain[2:], values["image"]))
		if secrets := values["secrets"]; secrets != "" {
			l.jobs[plain[1]].Spec.PullSecrets = strings.Split(secrets, ",")
		}
		if value := values["sandbox"]; value != "" {
			l.jobs[plain[1]].Spec.SandboxConfig = &v1alpha1.SandboxConfig{
				Labels: map[string]string{"app": value}, Annotations: map[string]string{"p2p": value, "team": value}}
		}
	case "task", "status":
		n, name := l.s.NodeImage, "nginx"
		if other, tag, is := strings.Cut(words[1], "/"); is {
			name, words[1] = other, tag
		}
		if words[0] == "task" {
			n.Spec.Images = with(n.Spec.Images, name, func(i *v1alpha1.ImageSpec) { i.Tags = append(i.Tags, l.task(words[1:], values)) })
		} else {
			n.Status.ImageStatuses = with(n.Status.ImageStatuses, name, func(i *v1alpha1.ImageStatus) { i.Tags = append(i.Tags, l.status(words[1:])) })
		}
	case "first-sync":
		l.s.NodeImage.Status.FirstSyncStatus = &v1alpha1.SyncStatus{Message: words[1]}
	case "empty":
		l.s.NodeImage.Spec.Images = map[string]v1alpha1.ImageSpec{"nginx": {}}
	case "refers", "sandbox":
		image := l.s.NodeImage.Spec.Images["nginx"]
		if words[0] == "sandbox" {
			image.SandboxConfig = &v1alpha1.SandboxConfig{Labels: values, Annotations: values}
		} else {
			image.PullSecrets = referencesTo(plain[1:])
		}
		l.s.NodeImage.Spec.Images["nginx"] = image
	case "pod":
		pod := attemptOf(l.jobs[words[1]], int32(l.number(words[2])), l.ago(words[3]))
		for _, word := range words[4:] {
			l.come(pod, word)
		}
		l.s.Pods = append(l.s.Pods, pod)
	case "refused":
		l.s.Refusals = append(l.s.Refusals, Refusal{Task: pullTaskOf(int32(l.number(words[2]))), Job: l.jobs[words[1]].UID, At: noon, Message: "quota"})
	default:
		l.t.Fatalf("no line %v", words)
	}
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

// jobNamed is a job, in the namespace before the slash if there is one.
func jobNamed(name string) *v1alpha1.ImagePullJob {
	namespace, short, is := strings.Cut(name, "/")
	if !is {
		return job(name)
	}
	j := job(short)
	j.Namespace = namespace
	return j
}

func (l *lines) job(name string, words []string) {
	j := jobNamed(name)
	for _, word := range words {
		switch word {
		case "":
		case "over":
			j.Status.CompletionTime = new(at(time.Hour))
		case "always":
			j.Spec.ImagePullPolicy = v1alpha1.ImagePullAlways
		case "never":
			j.Spec.CompletionPolicy.Type = v1alpha1.Never
		case "going":
			j.DeletionTimestamp = new(at(0))
		default:
			j.Spec.Image = word
		}
	}
	l.jobs[name], l.s.Jobs[j.UID] = j, j
}

func (l *lines) task(words []string, values map[string]string) v1alpha1.ImageTagSpec {
	one := v1alpha1.ImageTagSpec{Tag: words[0], Version: 1}
	for _, name := range words[1:] {
		switch j := l.jobs[name]; {
		case name == "with":
			return l.limited(one, values)
		case j != nil:
			one.OwnerReferences = append(one.OwnerReferences, images.TaskOwner(j))
		case name == "stranger":
			one.OwnerReferences = append(one.OwnerReferences, corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "Warmer", Name: "w", UID: "w-uid"})
		case name == "namesake":
			one.OwnerReferences = append(one.OwnerReferences, corev1.ObjectReference{APIVersion: "batch/v1", Kind: "ImagePullJob", Name: "w", UID: "w-uid"})
		case name == "later":
			later := corev1.ObjectReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "ImagePullJob", Namespace: "x", Name: "a", UID: "z"}
			one.OwnerReferences = append(one.OwnerReferences, later)
		case name != "of":
			one.OwnerReferences = append(one.OwnerReferences, images.TaskOwner(jobNamed(name)))
		}
	}
	return one
}

func (l *lines) limited(one v1alpha1.ImageTagSpec, values map[string]string) v1alpha1.ImageTagSpec {
	policy := &v1alpha1.ImageTagPullPolicy{}
	for key, value := range values {
		switch key {
		case "age":
			one.CreatedAt = new(at(l.ago(value)))
			continue
		case "version":
			one.Version = int64(l.number(value))
			continue
		case "ttl":
			policy.TTLSecondsAfterFinished = new(int32(l.number(value)))
		case "timeout":
			policy.TimeoutSeconds = new(int32(l.number(value)))
		case "backoff":
			policy.BackoffLimit = new(int32(l.number(value)))
		case "deadline":
			policy.ActiveDeadlineSeconds = new(int64(l.number(value)))
		}
		one.PullPolicy = policy
	}
	return one
}

func (l *lines) status(words []string) v1alpha1.ImageTagStatus {
	status := v1alpha1.ImageTagStatus{Tag: words[0], Phase: v1alpha1.ImagePullPhase(words[1]), Version: 1}
	if i := slices.Index(words, "says"); i >= 0 {
		words, status.Message = words[:i], strings.Join(words[i+1:], " ")
	}
	_, values := named(words)
	for key, value := range values {
		switch key {
		case "version":
			status.Version = int64(l.number(value))
		case "began":
			status.StartTime = new(at(l.ago(value)))
		case "ended":
			status.CompletionTime = new(at(l.ago(value)))
		}
	}
	return status
}

// come has a pod come to something.
func (l *lines) come(pod *corev1.Pod, what string) {
	does := map[string]func(*corev1.Pod){
		"runs": runs, "ended": ends, "never-created": unknown, "evicted": evicted, "deleted": deleted, "homeless": homeless,
		"not-found": waits("ErrImagePull", "not found"), "denied": waits("ErrImagePull", "denied"),
		"backs-off":       waits("ImagePullBackOff", `Back-off pulling image "nginx:1": ErrImagePull: not found`),
		"elsewhere":       func(pod *corev1.Pod) { pod.Spec.NodeName = "n2" },
		"forged":          func(pod *corev1.Pod) { pod.UID, pod.Spec.Volumes[0].Image.Reference = "forged", "nginx:2" },
		"unowned":         func(pod *corev1.Pod) { pod.OwnerReferences = nil },
		"of-another-kind": func(pod *corev1.Pod) { pod.OwnerReferences[0].APIVersion = "batch/v1" },
		"of-later-version": func(pod *corev1.Pod) {
			task := pullTaskOf(1)
			task.Version, pod.UID = 2, types.UID("later")
			pod.Annotations[v1alpha1.PullPodTaskAnnotation] = task.String()
		},
	}[what]
	if does == nil {
		l.t.Fatalf("no pod comes to %s", what)
	}
	does(pod)
}
