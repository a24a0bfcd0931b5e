// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

type edit = func(*corev1.Pod)

func inPhase(phase corev1.PodPhase) edit {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func onNode(node string) edit { return func(pod *corev1.Pod) { pod.Spec.NodeName = node } }

// env gives a container its environment: pairs of name and value.
func env(container int, pairs ...string) edit {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[container].Env = nil
		for i := 0; i < len(pairs); i += 2 {
			pod.Spec.Containers[container].Env = append(pod.Spec.Containers[container].Env, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
	}
}

// alone gives a container a restart policy of its own.
func alone(container int, policy corev1.ContainerRestartPolicy, rules ...corev1.ContainerRestartRule) edit {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[container].RestartPolicy, pod.Spec.Containers[container].RestartPolicyRules = &policy, rules
	}
}

func rule(action corev1.ContainerRestartRuleAction, operator corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: operator, Values: codes}}
}

const (
	succeeded = "Succeeded, since all main containers have succeeded, and "
	wouldFail = succeeded + "the pod would fail with sidecar "
	noneElse  = succeeded + "nothing else ends sidecar "
	never     = corev1.ContainerRestartPolicyNever
	onFailure = corev1.ContainerRestartPolicyOnFailure
	restart   = corev1.ContainerRestartRuleActionRestart
	all       = corev1.ContainerRestartRuleActionRestartAllContainers
	in        = corev1.ContainerRestartRuleOnExitCodesOpIn
	notIn     = corev1.ContainerRestartRuleOnExitCodesOpNotIn
	crrEnv    = v1alpha1.TerminateSidecarEnv
	imageEnv  = v1alpha1.TerminateSidecarWithImageEnv
)

// TestDue is about the pods whose sidecars are terminated.
func TestDue(t *testing.T) {
	restartableInit := func(pod *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []corev1.Container{{Name: "native", RestartPolicy: &always, Env: []corev1.EnvVar{{Name: crrEnv, Value: "true"}}}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "native", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	for _, test := range []struct {
		name, pod string
		edits     []edit
		want      string
	}{
		{"ST-2: OnFailure, and the main container has succeeded", "OnFailure main:0 a=r:running", nil, "stop [a]"},
		{"ST-E3: OnFailure, and it has failed", "OnFailure main:1 a=r:running", nil, "nothing"},
		{"ST-2: OnFailure, and it is started again", "OnFailure main:CrashLoopBackOff a=r:running", nil, "nothing"},
		{"ST-2: OnFailure, and it runs", "OnFailure main:running a=r:running", nil, "nothing"},
		{"ST-2, ST-15: Never, and it has succeeded", "Never main:0 a=r:running", nil, wouldFail + "a"},
		{"ST-E3: Never, and it has failed", "Never main:1 a=r:running", nil, "stop [a]"},
		{"ST-2: Never, and it runs", "Never main:running a=r:running", nil, "nothing"},
		{"ST-E1: Always", "Always main:0 a=r:running", nil, "nothing"},
		{"ST-E1: no policy is Always", " main:0 a=r:running", nil, "nothing"},
		{"ST-E2: Pending", "OnFailure main:0 a=r:ImagePullBackOff", []edit{inPhase(corev1.PodPending)}, "nothing"},
		{"ST-E2: Succeeded", "OnFailure main:0 a=r:running", []edit{inPhase(corev1.PodSucceeded)}, "nothing"},
		{"ST-E2: Failed", "Never main:1 a=r:running", []edit{inPhase(corev1.PodFailed)}, "nothing"},
		{"ST-2: terminating", "OnFailure main:0 a=r:running", []edit{func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: at} }}, "nothing"},
		{"ST-2: the mirror of a static pod", "OnFailure main:0 a=r:running", []edit{func(pod *corev1.Pod) { pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }}, "nothing"},
		{"ST-E4: one of two main containers", "OnFailure main:0 other:running a=r:running", nil, "nothing"},
		{"ST-E4: both of them", "OnFailure main:0 other:0 a=r:running", nil, "stop [a]"},
		{"ST-E5: one of two sidecars has exited", "OnFailure main:0 a=r:0 b=r:running", nil, "stop [b]"},
		{"ST-9: all sidecars have exited", "OnFailure main:0 a=r:0 b=i:0", nil, "nothing"},
		{"ST-E6: a status is missing", "OnFailure main:0 a=r:running", []edit{func(pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:1] }}, "nothing"},
		{"ST-3: a status too many", "OnFailure main:0 a=r:running", []edit{func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "x"})
		}}, "nothing"},
		{"ST-3: a status of another container", "OnFailure main:0 a=r:running", []edit{func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Name = "x" }}, "nothing"},
		{"ST-E7: no main container", "OnFailure a=r:running b=r:running", nil, "stop [a b]"},
		{"ST-E7: no main container, and Never: the kubelet decides", "Never a=r:running", nil, "stop [a]"},
		{"ST-1: no sidecar", "OnFailure main:0 other:0", nil, "nothing"},
		{"ST-1: all sidecars are native", "OnFailure main:0", []edit{restartableInit}, "nothing"},
		{"ST-1: a native sidecar beside another one", "OnFailure main:0 a=r:running", []edit{restartableInit}, "stop [a]"},
		{"ST-1: valueFrom does not count", "OnFailure main:0 a:running", []edit{func(pod *corev1.Pod) {
			pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: crrEnv, ValueFrom: &corev1.EnvVarSource{}}}
		}}, "nothing"},
		{"ST-E8: TRUE", "OnFailure main:0 a:running", []edit{env(1, crrEnv, "TRUE")}, "stop [a]"},
		{"ST-E8: True", "OnFailure main:0 a:running", []edit{env(1, crrEnv, "True")}, "stop [a]"},
		{"ST-E8: 1", "OnFailure main:0 a:running", []edit{env(1, crrEnv, "1")}, "nothing"},
		{"ST-E8: yes", "OnFailure main:0 a:running", []edit{env(1, crrEnv, "yes")}, "nothing"},
		{"ST-E9: an empty image", "OnFailure main:0 a:running", []edit{env(1, imageEnv, "")}, "nothing"},
		{"ST-E9: an empty image is no mark beside the other one", "OnFailure main:0 a:running", []edit{env(1, imageEnv, "", crrEnv, "true")}, "stop [a]"},
		{"ST-E11: the node is gone", "OnFailure main:0 a=r:running", []edit{onNode("gone")}, "nothing"},

		{"ST-2.1: a main container that is never started again, in OnFailure", "OnFailure main:1 a=r:running", []edit{alone(0, never)}, "stop [a]"},
		{"ST-2.1: a main container that is started again, in Never", "Never main:1 a=r:running", []edit{alone(0, onFailure)}, "nothing"},
		{"ST-2.1: by a rule", "Never main:42 a=r:running", []edit{alone(0, never, rule(restart, in, 42))}, "nothing"},
		{"ST-2.1: by a rule about others", "Never main:42 a=r:running", []edit{alone(0, never, rule(restart, notIn, 42))}, "stop [a]"},
		{"ST-2.1: rules count beside a policy only", "Never main:42 a=r:running", []edit{func(pod *corev1.Pod) {
			pod.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{rule(restart, in, 42)}
		}}, "stop [a]"},
		{"ST-2.1: all containers are about to be started again", "Never main:0 a=r:7 b=r:running", []edit{alone(1, never, rule(all, in, 7))}, "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(t, test.pod)
			for _, edit := range test.edits {
				edit(pod)
			}
			if got := describe(NewPlan(&Snapshot{Pod: pod, Node: nodes[pod.Spec.NodeName], Now: at})); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestGroups is the table of ST-7, and ST-8 to ST-10.
func TestGroups(t *testing.T) {
	for _, test := range []struct{ name, node, pod, want string }{
		{"ST-7: request", "real", "OnFailure main:0 a=r:running", "stop [a]"},
		{"ST-7: image", "real", "OnFailure main:0 a=i:running", "image of a: exit:1"},
		{"ST-7: request before image", "real", "OnFailure main:0 a=ri:running", "stop [a]"},
		{"ST-7: image before request", "real", "OnFailure main:0 a=ir:running", "image of a: exit:1; stop [a]"},
		{"ST-7: virtual, request", "virtual", "OnFailure main:0 a=r:running", "nothing"},
		{"ST-7: virtual, image", "virtual", "OnFailure main:0 a=i:running", "image of a: exit:1"},
		{"ST-7: virtual, request before image", "virtual", "OnFailure main:0 a=ri:running", "image of a: exit:1"},
		{"ST-7: virtual, image before request", "virtual", "OnFailure main:0 a=ir:running", "image of a: exit:1"},
		{"ST-8: images, then the request for all others", "real", "OnFailure main:0 c=r:running b=i:running a=r:running", "image of b: exit:1; stop [a c]"},
		{"ST-9: of two by image one has exited", "real", "OnFailure main:0 a=i:0 b=i:running", "image of b: exit:1"},
		{"ST-10: the image stands, and the kubelet has yet to take it", "real", "OnFailure main:0 a=I:running", "nothing"},
		{"ST-E12: the image stands, on a virtual node", "virtual", "Never main:0 a=I:running", "nothing"},
		{"ST-16: the phase waits for the image, and the request for that", "real", "Never main:0 a=r:running b=i:running", "image of b: exit:1"},
		{"ST-15: and comes after it", "real", "Never main:0 a=r:running b=I:running", wouldFail + "a"},
		{"ST-13: Never by image alone is the kubelet's", "real", "Never main:0 a=i:running", "image of a: exit:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(NewPlan(&Snapshot{Pod: podOf(t, test.pod), Node: nodes[test.node], Now: at})); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestPhase is about what follows the request: ST-11 to ST-15.
func TestPhase(t *testing.T) {
	cameBack := noneElse + "a, which is running"
	for _, test := range []struct {
		name, pod string
		ago       time.Duration // since the creation of a request for a
		over      bool          // it is completed
		edits     []edit
		want      string
	}{
		{"ST-11: there is a request", "OnFailure main:0 a=r:running", time.Second, false, nil, "nothing"},
		{"ST-12: the sidecar has exited with 0", "OnFailure main:0 a=r:0", time.Second, false, nil, "nothing"},
		{"ST-12: Never, and it has exited with 137 before the phase was given", "Never main:0 a=r:137", time.Second, false, nil, "nothing"},
		{"ST-14.1: it has exited with 137", "OnFailure main:0 a=r:137", time.Second, false, nil, noneElse + "a, which has exited with code 137, and is started again"},
		{"ST-14.1: it waits to be started again", "OnFailure main:0 a=r:CrashLoopBackOff", time.Second, false, nil, noneElse + "a, which is waiting: CrashLoopBackOff"},
		{"ST-14.1: without any request", "OnFailure main:0 a=r:CrashLoopBackOff@3", 0, false, nil, noneElse + "a, which is waiting: CrashLoopBackOff"},
		{"ST-14.1: without a main container there is one", "OnFailure a=r:CrashLoopBackOff@3", 0, false, nil, "stop [a]"},
		{"ST-14.2: it has come back", "OnFailure main:0 a=r:running@1", time.Second, false, nil, cameBack},
		{"ST-14.3: no agent has answered", "OnFailure main:0 a=r:running", time.Second, true, nil, cameBack},
		{"ST-14.3: and the main container has failed", "Never main:0 other:3 a=r:running", time.Second, true, nil, "Failed, since a main container has failed, and nothing else ends sidecar a, which is running"},
		{"ST-14.4: 60 s, and 5 s and 10 s for the container", "OnFailure main:0 a=r:running", 75 * time.Second, false, nil, cameBack},
		{"ST-14.4: not yet", "OnFailure main:0 a=r:running", 75*time.Second - 1, false, nil, "nothing"},
		{"ST-14: another sidecar has yet to be stopped", "OnFailure main:0 a=r:running@1 b=i:running", time.Second, false, nil, "image of b: exit:1"},
		{"ST-14: another one has the image", "OnFailure main:0 a=r:running@1 b=I:running", time.Second, false, nil, "nothing"},
		{"ST-14.5: which cannot be started", "OnFailure main:0 a=r:0 b=I:ImagePullBackOff", time.Second, false, nil, noneElse + "b, which is waiting: ImagePullBackOff"},
		{"ST-14.5: which is about to be", "OnFailure main:0 b=I:ContainerCreating", 0, false, nil, "nothing"},
		{"ST-14.5: which exits with an error", "OnFailure main:0 b=I:CrashLoopBackOff", 0, false, nil, noneElse + "b, which is waiting: CrashLoopBackOff"},
		{"ST-13: not on a virtual node", "OnFailure main:0 b=I:ImagePullBackOff", 0, false, []edit{onNode("virtual")}, "nothing"},
		{"ST-13: not without a main container", "OnFailure a=r:running@1", time.Second, true, nil, "nothing"},
		{"ST-15: the request stands, and the phase does not", "Never main:0 a=r:running", time.Second, false, nil, wouldFail + "a"},
		{"ST-15: the pod fails anyway", "Never main:2 a=r:running", time.Second, false, nil, "nothing"},
		{"ST-15: a sidecar that is never started again, in OnFailure", "OnFailure main:0 a=r:running", time.Second, false, []edit{alone(1, never)}, wouldFail + "a"},
		{"ST-12: one that always is, in Never", "Never main:0 a=r:running", time.Second, false, []edit{alone(1, onFailure)}, "nothing"},
		{"ST-14.2: and it has come back", "Never main:0 a=r:running@1", time.Second, false, []edit{alone(1, onFailure)}, cameBack},
		{"ST-12: one whose rules start it again whatever it exits with", "Never main:0 a=r:running", time.Second, false, []edit{alone(1, never, rule(restart, notIn, 0))}, "nothing"},
		{"ST-15: one whose rules leave a code out", "Never main:0 a=r:running", time.Second, false, []edit{alone(1, never, rule(restart, notIn, 0, 143))}, wouldFail + "a"},
		{"ST-15: one that starts all containers again", "OnFailure main:0 a=r:running", time.Second, false, []edit{alone(1, onFailure, rule(all, in, 137))}, wouldFail + "a"},
		{"ST-E10: the request is gone", "OnFailure main:0 a=r:running@1", 0, false, nil, "stop [a]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(t, test.pod)
			for _, edit := range test.edits {
				edit(pod)
			}
			s := &Snapshot{Pod: pod, Node: nodes[pod.Spec.NodeName], Now: at}
			if test.ago > 0 {
				s.Request = requestOf(pod, test.ago, "a")
			}
			if test.over {
				completed(s.Request)
			}
			plan := NewPlan(s)
			if got := describe(plan); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			left := *s
			left.LeavePhase = true
			if plan := NewPlan(&left); plan.Phase != "" {
				t.Errorf("ST-19: %s", plan)
			}
			if waits := s.Request != nil && !test.over && plan.String() == "" && isDue(pod) && pod.Status.ContainerStatuses[1].State.Running != nil && len(pod.Spec.Containers) == 2; waits != (plan.RequeueAfter > 0) {
				t.Errorf("waits for the request: %t, and looks again after %s", waits, plan.RequeueAfter)
			}
		})
	}
}

// The variable turns the phase on for its pod, if the phase is left to kubelets. (ST-20)
func TestIgnoreExitCode(t *testing.T) {
	for _, test := range []struct {
		name, pod string
		edits     []edit
		want      string // with LeavePhase
	}{
		{"ST-20: beside the request", "Never main:0 a=rx:running", nil, wouldFail + "a"},
		{"ST-20: in front of it", "Never main:0 a=xr:running", nil, wouldFail + "a"},
		{"ST-20: of one of two sidecars", "Never main:0 a=r:running b=rx:running", nil, wouldFail + "a, b"},
		{"ST-20: OnFailure, and it was started again", "OnFailure main:0 a=rx:running@1", nil, "stop [a]"},
		{"ST-20: OnFailure, and it waits to be", "OnFailure main:0 a=rx:CrashLoopBackOff@3", nil, noneElse + "a, which is waiting: CrashLoopBackOff"},
		{"ST-20: the main container has failed", "Never main:1 a=rx:running", nil, "stop [a]"},
		{"ST-20: false", "Never main:0 a:running", []edit{env(1, crrEnv, "true", v1alpha1.TerminateSidecarIgnoreExitCodeEnv, "false")}, "stop [a]"},
		{"ST-20: by itself it makes no sidecar", "Never main:0 a=x:running", nil, "nothing"},
		{"ST-20: beside the image", "OnFailure main:0 a=Ix:CrashLoopBackOff", nil, "nothing"},
		{"ST-20: not on a virtual node", "OnFailure main:0 a=rx:CrashLoopBackOff", []edit{onNode("virtual")}, "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(t, test.pod)
			for _, edit := range test.edits {
				edit(pod)
			}
			s := &Snapshot{Pod: pod, Node: nodes[pod.Spec.NodeName], LeavePhase: true, Now: at}
			if got := describe(NewPlan(s)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A pod that was given its phase for the variable gets its request then. (ST-20, ST-15.1)
func TestIgnoreExitCodeFollowed(t *testing.T) {
	for marks, want := range map[string]string{"rx": "stop [a]", "r": "nothing"} {
		pod := podOf(t, "Never main:0 a="+marks+":running")
		give(pod, corev1.PodSucceeded, at)
		learn(pod)
		if got := describe(NewPlan(&Snapshot{Pod: pod, Node: nodes["real"], LeavePhase: true, Now: at})); got != want {
			t.Errorf("%s: got %s, want %s", marks, got, want)
		}
	}
}

// The request is that of the contract. (ST-11)
func TestRequest(t *testing.T) {
	got, err := json.Marshal(NewPlan(&Snapshot{Pod: podOf(t, "OnFailure main:0 b=r:running a=r:running"), Node: nodes["real"], Now: at}).Create)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"metadata":{"name":"sidecar-termination-uid","namespace":"default",` +
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web","uid":"uid","controller":true,"blockOwnerDeletion":true}]},` +
		`"spec":{"podName":"web","containers":[{"name":"a"},{"name":"b"}],"strategy":{"failurePolicy":"Ignore","forceRecreate":true}},"status":{"phase":""}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// A plan says what each container waits for, and for how long.
func TestWaiting(t *testing.T) {
	for _, test := range []struct {
		name, pod, node string
		request         bool
		want            string
		again           time.Duration
	}{
		{"ST-2: main containers", "OnFailure main:running other:1 third:CrashLoopBackOff fourth:0 a=r:running", "real", false,
			"main: main container is running; other: main container has exited with code 1, and is started again; third: main container is waiting: CrashLoopBackOff", 0},
		{"ST-6: the node", "OnFailure main:0 a=r:running", "gone", false, `: node "real" is not known`, time.Minute},
		{"ST-14.4: the request", "OnFailure main:0 a=r:running b=I:running", "real", true,
			"a: ContainerRecreateRequest sidecar-termination-uid is to stop it, in 1m14s at the latest; b: it exits once it runs the image exit:1; it is running", 74 * time.Second},
		{"ST-7: no agent", "OnFailure main:0 a=r:running", "virtual", false, "a: it is terminated by a request, and a virtual node has no agent that serves it", 0},
		{"ST-15: nothing any more", "Never main:0 a=r:running", "real", false, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Snapshot{Pod: podOf(t, test.pod), Node: nodes[test.node], Now: at}
			if test.request {
				s.Request = requestOf(s.Pod, time.Second, "a")
			}
			plan := NewPlan(s)
			var got []string
			for _, w := range plan.Waiting {
				got = append(got, w.Name+": "+w.Reason.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" || plan.RequeueAfter != test.again {
				t.Errorf("(-want +got) %s\nagain after %s, want %s", diff, plan.RequeueAfter, test.again)
			}
		})
	}
}

// How long it took counts from the end of the last main container. (ST-17)
func TestTook(t *testing.T) {
	pod := podOf(t, "OnFailure main:0 other:0 a=r:0")
	pod.Status.ContainerStatuses[1].State.Terminated.FinishedAt = metav1.NewTime(at.Add(-3 * time.Second))
	pod.Status.ContainerStatuses[2].State.Terminated.FinishedAt = metav1.NewTime(at.Add(-time.Second))
	for phase, want := range map[corev1.PodPhase]time.Duration{corev1.PodRunning: 0, corev1.PodSucceeded: 3 * time.Second, corev1.PodFailed: 3 * time.Second} {
		pod.Status.Phase = phase
		if got := NewPlan(&Snapshot{Pod: pod, Node: nodes["real"], Now: at}).Took; got != want {
			t.Errorf("%s: %s, want %s", phase, got, want)
		}
	}
}

// A plan without a pod is empty, and says why.
func TestWithoutPod(t *testing.T) {
	for name, s := range map[string]*Snapshot{"no snapshot": nil, "no pod": {}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 || !strings.Contains(plan.String(), plan.Problems[0].Err.Error()) {
			t.Errorf("%s: problems %v, plan %q", name, plan.Problems, plan)
		}
	}
}
