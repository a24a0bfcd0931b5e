// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/injection"
)

// TestPlans plays steps in a world without API server, in testdata/plans, and shows plans. Times are since noon. To accept a change of
// behaviour, run the test with -rewrite and read the difference. Behind # in a step stands what it shows.
//
//	new [spec]             begins anew with the SidecarSet demo; without a spec it has the container log, with image log:v1
//	many M U R strategy    begins anew with M pods, of which U are updated from log:v1 to log:v2, and R of the latter serve
//	add pods, bare pod     adds pods that are injected, or one that is not
//	old pod number         adds a pod that has a revision
//	other name spec        has another SidecarSet injected into pods that are added from then on
//	kubelet [pods]         lets kubelets act
//	sync, step, settle     plan and apply, once or until nothing is left; step shows the plan
//	at time                sets the time
//	edit spec, image container image, set patch     edit the SidecarSet; patches are strategic merge patches in YAML
//	pod name patch, revision number patch           change a pod or a revision
//	data number text       changes the data of a revision: all of it, or one text to another by "old => new"
//	forget                 removes all revisions
//	status pod container [patch]                    changes what the kubelet says of a container, or has it say nothing
//	gone pod               removes a pod
//	down pod container     has a container fail
//	workload [time]        has the workload of the first pod begin its update at that time
//	namespace name labels  has the cache know a namespace
//	refused pod time       has the API server refuse the update of the pod; the controller tries again at that time
//	denied pod budget time has a budget refuse it at that time
//	accepted               forgets what was refused
//	policies               has policies inject
//	feature name           switches a feature on, or off again, of the controller or of injection
//	plain pod, records pod text                     see checkPlain and checkRecords
//
// What is shown of the plan, or of the pods, says show. $HASH stands for the hash of the containers of the SidecarSet.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) { playPlans(t, path, func(string, *planScript) {}) })
}

// playPlans plays a file, and hands over what comes of each command, by its place.
func playPlans(t *testing.T, path string, done func(place string, s *planScript)) {
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		s := &planScript{world: newWorld(t, logs)}
		for line := range strings.Lines(d.Input) {
			s.step(strings.TrimSpace(line))
		}
		done(d.Pos, s)
		return s.out.String()
	})
}

// planScript plays one command of a file.
type planScript struct {
	*world
	out strings.Builder
}

func (s *planScript) at(text string) time.Time { return noon.Add(patches.Duration(s.T, text)) }

func (s *planScript) step(line string) {
	s.T.Helper()
	if strings.Contains(line, "$HASH") {
		hashes, err := s.sees.Injection.HashesOf(s.sees.Set)
		s.must(err)
		line = strings.ReplaceAll(line, "$HASH", hashes.Containers)
	}
	line, comment, _ := strings.Cut(line, " # ")
	if comment != "" {
		s.out.WriteString(comment + ":")
	}
	verb, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	if !s.play(verb, rest, words) && !s.change(verb, rest, append(words, "", "")) && !s.show(verb, words) {
		s.T.Fatalf("unknown step %s", line)
	}
}

// play has the controller, kubelets and the workload act.
func (s *planScript) play(verb, rest string, words []string) bool {
	switch verb {
	case "new":
		s.world = newWorld(s.T, cmp.Or(rest, logs))
	case "many":
		n := func(i int) int { return patches.Number(s.T, words[i]) }
		s.world = many(s.T, strings.Join(words[3:], " "), n(0), n(1), n(2))
	case "add":
		s.add(words...)
	case "old":
		set, revision := s.sees.Set.DeepCopy(), s.Revisions[patches.Number(s.T, words[1])-1]
		s.must(injection.Read(set, revision))
		set.Status.LatestRevision = revision.Name
		s.addAs(words[0], set)
	case "kubelet":
		for _, name := range words {
			s.Kubelet(name)
		}
		if len(words) == 0 {
			s.Kubelets()
		}
	case "sync":
		s.sync()
	case "step":
		plan := s.plan()
		s.print(plan.String())
		s.apply(plan)
	case "settle":
		s.settle()
	default:
		return false
	}
	return true
}

// change changes what there is, as users and others do.
func (s *planScript) change(verb, rest string, words []string) bool {
	named, patch, _ := strings.Cut(rest, " ")
	switch verb {
	case "other":
		w := newWorld(s.T, "{}")
		w.sees.Injection = s.sees.Injection
		w.edit(patch)
		w.sees.Set.Name, w.sees.Set.UID = named, types.UID("uid-of-"+named)
		s.others = append(s.others, w.sees.Set)
	case "bare":
		s.Pods = append(s.Pods, s.bare(named))
	case "edit":
		s.edit(rest)
	case "image":
		s.image(words[0], words[1])
		s.versions[s.sees.Set.ResourceVersion] = fmt.Sprintf("R%d", len(s.versions)+1)
	case "set":
		patches.Strategic(s.T, s.sees.Set, rest)
	case "pod":
		patches.Strategic(s.T, s.Pod(named), patch)
	case "revision":
		patches.Strategic(s.T, s.Revisions[patches.Number(s.T, named)-1], patch)
	case "data":
		r := s.Revisions[patches.Number(s.T, named)-1]
		if old, now, replaces := strings.Cut(patch, " => "); replaces {
			patch = strings.Replace(string(r.Data.Raw), old, now, 1)
		}
		r.Data.Raw = []byte(patch)
	case "forget":
		s.Revisions = nil
	case "feature":
		feature := reflect.ValueOf(&s.sees.Features).Elem().FieldByName(named)
		if !feature.IsValid() {
			feature = reflect.ValueOf(&s.sees.Injection).Elem().FieldByName(named)
		}
		feature.SetBool(!feature.Bool())
	case "status":
		s.status(s.Pod(words[0]), words[1], strings.TrimPrefix(patch, words[1]))
	case "gone":
		s.Gone(named)
	case "down":
		s.down(words[0], words[1])
	case "workload":
		s.beginWorkloadUpdate(s.at(named))
	case "at":
		s.Now = s.at(named)
	case "namespace":
		labels := *patches.Object[map[string]string](s.T, patch)
		s.sees.Namespaces = map[string]*corev1.Namespace{named: {ObjectMeta: metav1.ObjectMeta{Labels: labels}}}
	case "refused":
		no := errors.New("no")
		s.sees.Refused = rollout.Refusals{Until: s.at(words[1]), Pods: map[types.UID]error{s.Pod(named).UID: no}, Err: no}
	case "denied":
		if s.sees.Refused.Denied == nil {
			s.sees.Refused.Denied = map[types.UID]rollout.Denial{}
		}
		s.sees.Refused.Denied[s.Pod(named).UID] = rollout.Denial{Budget: words[1], Since: s.at(words[2]), Asked: s.at(words[2])}
	case "accepted":
		s.sees.Refused = rollout.Refusals{}
	case "policies":
		s.sees.Policies = true
	default:
		return false
	}
	return true
}

// status changes what the kubelet says of a container; without a patch it says nothing of it.
func (s *planScript) status(pod *corev1.Pod, container, patch string) {
	s.T.Helper()
	if patch != "" {
		patches.Strategic(s.T, podstate.ContainerStatus(pod, container), patch)
		return
	}
	statuses := &pod.Status.ContainerStatuses
	*statuses = slices.DeleteFunc(*statuses, func(s corev1.ContainerStatus) bool { return s.Name == container })
}

// show shows a part of the plan, or of a pod.
func (s *planScript) show(verb string, words []string) bool {
	s.T.Helper()
	plan := s.plan()
	var shown []string
	switch verb {
	case "plan":
		shown = []string{plan.String()}
	case "updates": // in their order
		shown = updates(plan)
	case "taken":
		shown = []string{fmt.Sprintf("%d pods are updated, %d wait, partition %d", len(updates(plan)), len(plan.Waiting), plan.Rollout.Partition)}
	case "counts": // that the status has, too
		r, status := plan.Rollout, &s.sees.Set.Status
		if plan.Status != nil {
			status = plan.Status
		}
		shown = []string{fmt.Sprintf("%d matched, %d updated, %d ready, %d both", r.Matched, r.Updated, r.Ready, r.UpdatedReady)}
		if r.Matched != status.MatchedPods || r.Updated != status.UpdatedPods || r.Ready != status.ReadyPods || r.UpdatedReady != status.UpdatedReadyPods ||
			status.LatestRevision != plan.Revisions.Update.Name {
			s.T.Errorf("status %+v, want %s at %s", status, shown[0], plan.Revisions.Update.Name)
		}
	case "waits":
		for _, pod := range s.Pods {
			if rules := waits(plan, pod.Name); rules != "" {
				shown = append(shown, pod.Name+" "+rules)
			}
		}
	case "created": // a revision
		shown = []string{patches.JSON(s.T, plan.Revisions.Create)}
	case "base": // of names in quotes, each as one of both hot containers
		for _, word := range words {
			shown = append(shown, fmt.Sprintf("%s of %q", word, hotBase(strings.Trim(word, `"`))))
		}
	case "plain":
		shown = []string{s.checkPlain(words[0])}
	case "records":
		shown = []string{s.checkRecords(words[0], strings.Join(words[1:], " "))}
	case "history": // what becomes of revisions
		shown = strings.Split(strings.TrimPrefix(plan.Revisions.String(), "update revision "), "\n")
	case "hot":
		shown = []string{hotState(s.T, s.Pod(words[0]), words[1], s.versions)}
	case "images":
		shown = imagesOf(s.Pod(words[0]))
	case "conditions":
		for _, c := range s.sees.Set.Status.Conditions {
			shown = append(shown, fmt.Sprintf("%s=%s since %s: %s", c.Type, c.Status, c.LastTransitionTime.UTC().Format(time.TimeOnly), c.Message))
		}
	case "patches":
		for i := range plan.Patch {
			shown = append(shown, plan.Patch[i].Patch.String())
		}
	case "annotation": // one, or all
		all := s.Pod(words[0]).Annotations
		if len(words) > 1 {
			s.print(all[words[1]])
			return true
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			shown = append(shown, key+"="+all[key])
		}
		s.print(strings.Join(shown, "\n"))
		return true
	default:
		return false
	}
	s.print(strings.Join(shown, ", "))
	return true
}

// print shows a text, behind what it shows: on the same line if it is a line.
func (s *planScript) print(text string) {
	switch lines := s.out.String(); {
	case lines == "" || strings.HasSuffix(lines, "\n"):
	case strings.Contains(text, "\n"):
		s.out.WriteString("\n")
	case text != "":
		s.out.WriteString(" ")
	}
	s.out.WriteString(text + "\n")
}
