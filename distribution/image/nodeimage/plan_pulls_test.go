// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

var pullPods = &PullPods{PauseImage: "pause:1"}

// pullTaskOf is an attempt at the task of nginx:1.
func pullTaskOf(attempt int32) images.PullTask {
	return images.PullTask{Node: "n1", Image: "nginx", Tag: "1", Version: 1, Attempt: attempt}
}

// attemptOf is the pod of an attempt for a job, on its node, of an age.
func attemptOf(job *v1alpha1.ImagePullJob, attempt int32, age time.Duration, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := pullPods.pod(job, pullTaskOf(attempt), 600)
	pod.UID, pod.CreationTimestamp, pod.Spec.NodeName = types.UID(pod.Name), at(age), "n1"
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func container(status corev1.ContainerStatus) func(*corev1.Pod) {
	status.Name = pullContainer
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{status} }
}

func waits(reason, message string) func(*corev1.Pod) {
	return container(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}})
}

var (
	runs    = container(corev1.ContainerStatus{ContainerID: "containerd://1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	ends    = container(corev1.ContainerStatus{ContainerID: "containerd://1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}})
	unknown = container(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "ContainerStatusUnknown"}}})
	evicted = func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodFailed, "Evicted", "no disk"
	}
	deleted  = func(pod *corev1.Pod) { pod.DeletionTimestamp = new(at(0)) }
	homeless = func(pod *corev1.Pod) {
		pod.Spec.NodeName = ""
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "too many pods"}}
	}
)

// summary is what a plan says about pulls. It has what the plan creates and deletes, as
// "job attempt", what waits, whom it tells, and the state that it reports.
type summary struct {
	Create, Delete, Waiting, Told []string
	Phase                         v1alpha1.ImagePullPhase
	Message                       string
}

func summarize(plan *Plan) summary {
	show := func(pods []*corev1.Pod) (out []string) {
		for _, pod := range pods {
			task, _ := images.PullTaskOf(pod)
			out = append(out, fmt.Sprint(pod.Namespace, "/", pod.OwnerReferences[0].Name, " ", task.Attempt))
		}
		return out
	}
	s := summary{Create: show(plan.Pulls.Create), Delete: show(plan.Pulls.Delete)}
	for _, w := range plan.Pulls.Waiting {
		s.Waiting = append(s.Waiting, w.In.Name+": "+w.Reason.String())
	}
	for _, u := range plan.Pulls.Unpulled {
		s.Told = append(s.Told, u.Job.Namespace+"/"+u.Job.Name+": "+u.Message)
	}
	if plan.Status != nil {
		for _, state := range plan.Status.ImageStatuses["nginx"].Tags { // of one task
			s.Phase, s.Message = state.Phase, state.Message
		}
	}
	return s
}

func TestPlanPulls(t *testing.T) {
	const unowned = "no ImagePullJob that goes on owns the task, and kubelets pull for these alone"
	const backOff = `Back-off pulling image "nginx:1": ErrImagePull: not found`
	bank := job("a", func(j *v1alpha1.ImagePullJob) { j.Namespace = "bank" })
	other := job("b")
	over := job("a", func(j *v1alpha1.ImagePullJob) { j.Status.CompletionTime = new(at(0)) })
	begun := v1alpha1.ImageTagStatus{Tag: "1", Version: 1, Phase: pulling, StartTime: new(at(15 * time.Second))}
	said := func(message string) []v1alpha1.ImageTagStatus {
		state := begun
		state.Message = message
		return []v1alpha1.ImageTagStatus{state}
	}
	limits := func(timeout, backoff int32, deadline *int64) *v1alpha1.ImageTagPullPolicy {
		return &v1alpha1.ImageTagPullPolicy{TimeoutSeconds: &timeout, BackoffLimit: &backoff, ActiveDeadlineSeconds: deadline}
	}
	once, twice := limits(600, 0, nil), limits(600, 1, nil)
	refusal := Refusal{Task: pullTaskOf(1), Job: "a-uid", At: noon, Message: "quota"}
	for _, test := range []struct {
		name     string
		policy   *v1alpha1.ImageTagPullPolicy
		jobs     []*v1alpha1.ImagePullJob
		pods     []*corev1.Pod
		status   []v1alpha1.ImageTagStatus
		refusals []Refusal
		edit     func(*Snapshot)
		want     summary
	}{
		{name: "IMG-4.1: a pod for every job", jobs: []*v1alpha1.ImagePullJob{bank, other},
			want: summary{Create: []string{"bank/a 1", "default/b 1"}, Phase: pulling}},
		{name: "IMG-4.1: the pod is there", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0)}, status: said("")},
		{name: "IMG-4.1: none for a job that is over", jobs: []*v1alpha1.ImagePullJob{over},
			want: summary{Phase: failed, Message: unowned}},
		{name: "IMG-4.1: nobody owns the task",
			want: summary{Phase: failed, Message: unowned}},
		{name: "IMG-4.1: so many of one namespace at a time", jobs: []*v1alpha1.ImagePullJob{job("a"), other}, edit: func(s *Snapshot) { s.PullPods = &PullPods{PauseImage: "pause:1", PerNamespace: 1} },
			want: summary{Create: []string{"default/a 1"}, Phase: pulling, Waiting: []string{"default/b: 1 pods of the namespace pull on the node, which is as many as may be"}}},
		{name: "IMG-4.1: namespaces do not wait for each other", jobs: []*v1alpha1.ImagePullJob{bank, other}, edit: func(s *Snapshot) { s.PullPods = &PullPods{PauseImage: "pause:1", PerNamespace: 1} },
			want: summary{Create: []string{"bank/a 1", "default/b 1"}, Phase: pulling}},
		{name: "IMG-4.1: the node is not ready", jobs: []*v1alpha1.ImagePullJob{bank}, edit: func(s *Snapshot) { s.Node = node(corev1.ConditionUnknown, time.Second) },
			want: summary{Waiting: []string{"bank/a: the node is not ready"}}},
		{name: "IMG-4.2: the container runs, so the image is there", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0, runs)}, status: said(""),
			want: summary{Delete: []string{"bank/a 1"}, Phase: succeeded}},
		{name: "IMG-4.2: also where it has ended", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0, ends)}, status: said(""),
			want: summary{Delete: []string{"bank/a 1"}, Phase: succeeded}},
		{name: "IMG-4.2: not where it was never created", policy: once, jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0, unknown, evicted)}, status: said(""),
			want: summary{Delete: []string{"bank/a 1"}, Phase: failed, Message: "bank/a: pod " + attemptOf(bank, 1, 0).Name + " has ended: Evicted no disk",
				Told: []string{"bank/a: pod " + attemptOf(bank, 1, 0).Name + " has ended: Evicted no disk"}}},
		{name: "IMG-4.2: a pause after a failure", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 9*time.Second, waits("ErrImagePull", "not found"))}, status: said(""),
			want: summary{Phase: pulling, Message: "bank/a: ErrImagePull: not found", Waiting: []string{"bank/a: attempt 2 of 4 is made in 1s; the last one failed: ErrImagePull: not found"}}},
		{name: "IMG-4.2: the kubelet's own pauses are no news", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 9*time.Second, waits("ImagePullBackOff", backOff))}, status: said("bank/a: ErrImagePull: not found"),
			want: summary{Waiting: []string{"bank/a: attempt 2 of 4 is made in 1s; the last one failed: ErrImagePull: not found"}}},
		{name: "IMG-4.2: then another pod", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 10*time.Second, waits("ErrImagePull", "not found"))}, status: said("bank/a: ErrImagePull: not found"),
			want: summary{Delete: []string{"bank/a 1"}, Create: []string{"bank/a 2"}}},
		{name: "IMG-4.2: the last attempt has failed", policy: twice, jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 2, 0, waits("ErrImagePull", "not found"))}, status: said(""),
			want: summary{Delete: []string{"bank/a 2"}, Phase: failed, Message: "bank/a: ErrImagePull: not found", Told: []string{"bank/a: ErrImagePull: not found"}}},
		{name: "IMG-4.2: it takes too long", policy: limits(60, 0, nil), jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, time.Minute, homeless)}, status: said(""),
			want: summary{Delete: []string{"bank/a 1"}, Phase: failed, Message: "bank/a: pod " + attemptOf(bank, 1, 0).Name + " is not scheduled: too many pods: it takes longer than 1m0s",
				Told: []string{"bank/a: pod " + attemptOf(bank, 1, 0).Name + " is not scheduled: too many pods: it takes longer than 1m0s"}}},
		{name: "IMG-4.2: an attempt whose pod is deleted has failed", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, time.Minute, deleted)}, status: said("bank/a: pod " + attemptOf(bank, 1, 0).Name + " was deleted"),
			want: summary{Create: []string{"bank/a 2"}}},
		{name: "IMG-4.2: a refusal is an attempt", jobs: []*v1alpha1.ImagePullJob{bank}, refusals: []Refusal{refusal}, status: said("bank/a: quota"),
			want: summary{Waiting: []string{"bank/a: attempt 2 of 4 is made in 10s; the last one failed: quota"}}},
		{name: "IMG-4.2: the last refusal", policy: once, jobs: []*v1alpha1.ImagePullJob{bank}, refusals: []Refusal{refusal}, status: said(""),
			want: summary{Phase: failed, Message: "bank/a: quota", Told: []string{"bank/a: quota"}}},
		{name: "IMG-4.2: what the pod shows counts more than a refusal", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0)}, refusals: []Refusal{refusal}, status: said("")},
		{name: "IMG-4.2: no attempt of another job, version or image", policy: once, jobs: []*v1alpha1.ImagePullJob{bank}, status: said(""), pods: []*corev1.Pod{
			attemptOf(other, 1, 0, runs),
			attemptOf(bank, 1, 0, runs, func(pod *corev1.Pod) {
				pod.Annotations[v1alpha1.PullPodTaskAnnotation] = images.PullTask{Node: "n1", Image: "nginx", Tag: "1", Version: 2, Attempt: 1}.String()
			}),
			attemptOf(bank, 1, 0, runs, func(pod *corev1.Pod) { pod.UID, pod.Spec.Volumes[0].Image.Reference = "forged", "nginx:2" })},
			want: summary{Delete: []string{"bank/a 1", "bank/a 1", "default/b 1"}, Create: []string{"bank/a 1"}}},
		{name: "IMG-4.2: not on another node", jobs: []*v1alpha1.ImagePullJob{bank}, status: said(""), pods: []*corev1.Pod{attemptOf(bank, 1, 0, runs, func(pod *corev1.Pod) { pod.Spec.NodeName = "n2" })}},
		{name: "IMG-4.3: it is waited for every job", jobs: []*v1alpha1.ImagePullJob{bank, other}, status: said(""), pods: []*corev1.Pod{attemptOf(bank, 1, 0, runs), attemptOf(other, 1, 0)}},
		{name: "IMG-4.3: one job's success is the task's, and another is told of its failure", policy: once, jobs: []*v1alpha1.ImagePullJob{bank, other}, status: said(""),
			pods: []*corev1.Pod{attemptOf(bank, 1, 0, runs), attemptOf(other, 1, 0, waits("ErrImagePull", "denied"))},
			want: summary{Delete: []string{"bank/a 1", "default/b 1"}, Phase: succeeded, Told: []string{"default/b: ErrImagePull: denied"}}},
		{name: "IMG-4.3: all have failed", policy: once, jobs: []*v1alpha1.ImagePullJob{bank, other}, status: said(""),
			pods: []*corev1.Pod{attemptOf(bank, 1, 0, waits("ErrImagePull", "secret of bank")), attemptOf(other, 1, 0, waits("ErrImagePull", "denied"))},
			want: summary{Delete: []string{"bank/a 1", "default/b 1"}, Phase: failed, Message: "bank/a: ErrImagePull: secret of bank; default/b: ErrImagePull: denied",
				Told: []string{"bank/a: ErrImagePull: secret of bank", "default/b: ErrImagePull: denied"}}},
		{name: "IMG-4.3: the deadline", policy: limits(600, 3, ptr.To[int64](15)), jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0)}, status: said(""),
			want: summary{Delete: []string{"bank/a 1"}, Phase: failed, Message: v1alpha1.ImagePullMessageDeadline, Told: []string{"bank/a: " + v1alpha1.ImagePullMessageDeadline}}},
		{name: "IMG-4.3: a finished task needs no pods", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0, runs)}, status: []v1alpha1.ImageTagStatus{finished("1", succeeded, 0)},
			want: summary{Delete: []string{"bank/a 1"}}},
		{name: "IMG-4.3: pods of others are left alone", status: []v1alpha1.ImageTagStatus{finished("1", succeeded, 0)}, pods: []*corev1.Pod{
			attemptOf(bank, 1, 0, func(pod *corev1.Pod) { pod.OwnerReferences = nil }), attemptOf(bank, 2, 0, func(pod *corev1.Pod) { pod.OwnerReferences[0].APIVersion = "batch/v1" }), attemptOf(bank, 3, 0, deleted)}},
		{name: "IMG-4.3: the node goes, and with it its pods", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0)}, edit: func(s *Snapshot) { s.Node = nil },
			want: summary{Delete: []string{"bank/a 1"}}},
		{name: "IMG-4.3: they go without a NodeImage, too", pods: []*corev1.Pod{attemptOf(bank, 1, 0)}, edit: func(s *Snapshot) { s.Node, s.NodeImage = nil, nil },
			want: summary{Delete: []string{"bank/a 1"}}},
		{name: "IMG-4.3: what is no task any more is not reported", jobs: []*v1alpha1.ImagePullJob{bank}, pods: []*corev1.Pod{attemptOf(bank, 1, 0)},
			status: append(said(""), finished("2", succeeded, 0)), want: summary{Phase: pulling}},
		{name: "IMG-4: agents pull without the option", jobs: []*v1alpha1.ImagePullJob{bank}, edit: func(s *Snapshot) { s.PullPods = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			one := task("1")
			one.PullPolicy = test.policy
			for _, j := range test.jobs {
				one.OwnerReferences = append(one.OwnerReferences, images.TaskOwner(j))
			}
			s := snapshot(with(t, []v1alpha1.ImageTagSpec{one}, test.status...), test.jobs...)
			images.CountTasks(&s.NodeImage.Status, &s.NodeImage.Spec)
			s.PullPods, s.Pods, s.Refusals = pullPods, test.pods, test.refusals
			if test.edit != nil {
				test.edit(s)
			}
			before := s.NodeImage.DeepCopy()
			plan := NewPlan(s)
			if diff := cmp.Diff(test.want, summarize(plan)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, s.NodeImage); diff != "" {
				t.Errorf("the snapshot is changed:\n%s", diff)
			}
			if len(plan.Pulls.Waiting)+len(plan.Pulls.Create) > 0 && plan.RequeueAfter == 0 && s.Node != nil && !strings.Contains(fmt.Sprint(plan.Pulls.Waiting), "not ready") {
				t.Error("no look after a while")
			}
		})
	}
}

// IMG-4.1: what another tenant has given to the task as sandbox comes onto no pod of a namespace.
func TestPullPodsHaveTheirOwnAnnotations(t *testing.T) {
	sandbox := func(key string) func(*v1alpha1.ImagePullJob) {
		return func(j *v1alpha1.ImagePullJob) {
			j.Namespace = j.Name
			j.Spec.SandboxConfig = &v1alpha1.SandboxConfig{Annotations: map[string]string{key: "yes"}}
		}
	}
	n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("team-a", "team-b")...)})
	image := n.Spec.Images["nginx"]
	image.SandboxConfig = &v1alpha1.SandboxConfig{Annotations: map[string]string{"last": "yes"}}
	n.Spec.Images["nginx"] = image
	s := snapshot(n, job("team-a", sandbox("a")), job("team-b", sandbox("b")))
	s.PullPods = pullPods
	got := map[string]string{}
	for _, pod := range NewPlan(s).Pulls.Create {
		delete(pod.Annotations, v1alpha1.PullPodTaskAnnotation)
		got[pod.Namespace] = fmt.Sprint(pod.Annotations)
	}
	if diff := cmp.Diff(map[string]string{"team-a": "map[a:yes]", "team-b": "map[b:yes]"}, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// IMG-4.1: whatever runs in it has no rights, and it is for one node.
func TestPullPod(t *testing.T) {
	j := job("a."+strings.Repeat("x", 60), func(j *v1alpha1.ImagePullJob) { j.Spec.PullSecrets = []string{"s1", "s2", "s1"} })
	o := &PullPods{PauseImage: "pause:1", Labels: map[string]string{"inject": "no", v1alpha1.PullPodLabel: "mine"}, Annotations: map[string]string{"team": "infra"}}
	j.Spec.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"p2p": "yes", "team": "web"}}
	digest := pullTaskOf(1)
	digest.Tag = "sha256:0123"
	pod := o.pod(j, digest, 600)
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: pod.Name, Labels: map[string]string{"inject": "no", v1alpha1.PullPodLabel: ""},
			Annotations:     map[string]string{"p2p": "yes", "team": "infra", v1alpha1.PullPodTaskAnnotation: `{"node":"n1","image":"nginx","tag":"sha256:0123","version":1,"attempt":1}`},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImagePullJob", Name: j.Name, UID: j.UID, Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "s1"}, {Name: "s2"}},
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}}}}}},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, RestartPolicy: corev1.RestartPolicyNever,
			ActiveDeadlineSeconds: ptr.To[int64](660), TerminationGracePeriodSeconds: ptr.To[int64](1),
			AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65535), RunAsGroup: ptr.To[int64](65535),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "pause", Image: "pause:1", ImagePullPolicy: corev1.PullIfNotPresent, Resources: o.resources(),
				VolumeMounts: []corev1.VolumeMount{{Name: "image", MountPath: "/image", ReadOnly: true}},
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}},
			Volumes: []corev1.Volume{{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{
				Reference: "nginx@sha256:0123", PullPolicy: corev1.PullIfNotPresent}}}},
		},
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	j.Spec.ImagePullPolicy = v1alpha1.ImagePullAlways
	if policy := o.pod(j, digest, 600).Spec.Volumes[0].Image.PullPolicy; policy != corev1.PullAlways {
		t.Errorf("IMG-1.14: pull policy %s", policy)
	}
	if len(pod.Name) > 63 || !strings.HasPrefix(pod.Name, "a.xxx") {
		t.Errorf("name %s", pod.Name)
	}
	names := map[string]bool{}
	for _, other := range []*corev1.Pod{pod, o.pod(j, pullTaskOf(1), 1), o.pod(j, pullTaskOf(2), 1), o.pod(job("b"), pullTaskOf(1), 1)} {
		names[other.Name] = true
	}
	if len(names) != 4 {
		t.Errorf("names %v", names)
	}
}
