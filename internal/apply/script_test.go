// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestScripts plays writes of the controller of the StatefulSet web. Each directive "play" begins anew, with lines that are steps of
// others or of the controller. Of the latter it shows what they sent, recorded and returned. It shows the caches for which the next
// reconcile waits, and the writes that it looks for since their answer was lost. To accept a change of behaviour, run the test with
// -rewrite and read the difference.
//
// Steps of others:
//
//	pod NAME…, claim NAME [held] [controlled] [owners=a,b], revision NAME IMAGE [owner=UID [controller]] [unlabelled] [data]
//	                     create objects. The controller knows them as they are then
//	remove POD, replace POD, label POD, remove-claim, replace-claim, share-claim, remove-revision, replace-revision, raise-revision
//	remove-set, finalize-set, edit-set
//	fail REQUEST… with=ERROR, fail-dry-run ERROR, heal
//	meanwhile reports|restarts|puts-back N
//	                     has others change the pod web-0 before each of the first N patches of pods
//
// The controller is set to generated names, identified-by LABEL, placed, recreates, refused-before, budget allows|denies|lost. begin
// begins the next reconcile with the set that is stored, begin-edited with the one that was edited, and forget with nothing known of it.
//
// For the steps of the controller, see writes and planned. set, claims, revisions and refused show what there is afterwards.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "play" {
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			w := &world{fixture: newFixture(t), pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{},
				revisions: map[string]*appsv1.ControllerRevision{}}
			w.Records = map[rollout.PatchKind]Action{rollout.PatchUpdateInPlace: UpdateInPlace, rollout.PatchCancelDelete: Update}
			for line := range strings.Lines(d.Input) {
				step := readStep(line)
				if !w.others(step) && !w.settings(step) && !w.writes(step) && !w.planned(step) && !w.show(step) {
					d.Fatalf(t, "unknown step %s", line)
				}
			}
			return w.out.String()
		})
	})
}

// world is a reconcile with what the controller knows.
type world struct {
	*fixture
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	budget    string
	recreates bool
	a         *Applier[v1beta1.StatefulSetStatus]
	out       strings.Builder
}

// step is a line: a name, and words, of which some are key=value.
type step struct {
	name   string
	words  []string
	values map[string]string
}

func readStep(line string) step {
	fields := strings.Fields(line)
	s := step{name: fields[0], values: map[string]string{}}
	for _, word := range fields[1:] {
		if key, value, found := strings.Cut(word, "="); found {
			s.values[key] = value
		} else {
			s.words = append(s.words, word)
		}
	}
	return s
}

func (s step) has(word string) bool { return slices.Contains(s.words, word) }

func (s step) list(key string) (items []string) {
	if s.values[key] != "" {
		items = strings.Split(s.values[key], ",")
	}
	return items
}

// settings sets the controller.
func (w *world) settings(s step) bool {
	switch s.name {
	case "generated":
		w.GeneratedNames = true
	case "identified-by":
		w.IdentifiedBy = s.words
	case "placed":
		w.Placement = placement(func(pod *corev1.Pod) { pod.Labels = map[string]string{"id": "other"} })
	case "recreates":
		w.recreates = true
	case "refused-before":
		w.Refusals.Until = time.Unix(1000, 0)
	case "budget":
		w.budget = s.words[0]
	case "begin":
		w.must(w.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(w.t.Context()).Into(w.set))
		w.Sync = w.Begin(w.set)
	case "begin-edited":
		w.Sync = w.Begin(w.set)
	case "forget":
		w.Writer.Forget(w.Key)
		w.Sync = w.Begin(w.set)
	default:
		return false
	}
	return true
}

// came shows what came of a step of the controller. What is done at the same time is shown in order.
func (w *world) came(err error) {
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		slices.Sort(lines)
		fmt.Fprintln(&w.out, "error:", strings.Join(lines, "\n       "))
	}
	if err != nil && WorthRetrying(err) == nil {
		fmt.Fprintln(&w.out, "not worth retrying")
	}
	events := slices.Sorted(slices.Values(w.events.All()))
	for _, line := range slices.Concat(w.requests(), events) {
		fmt.Fprintln(&w.out, line)
	}
	w.ForgetRequests()
	w.events.Forget()
	written := map[podwright.Resource]string{}
	for {
		missing, err := w.Own.Pending(w.Key, func(resource podwright.Resource) string {
			if written[resource] != "" {
				return ""
			}
			return "1"
		}, time.Now())
		if w.must(err); missing == (apiwriter.Missing{}) {
			break
		}
		written[missing.Resource] = missing.Wrote
	}
	for _, resource := range slices.Sorted(maps.Keys(written)) {
		fmt.Fprintln(&w.out, "waits for", resource)
		w.Own.Wrote(w.Key, resource, written[resource])
	}
	for _, lost := range w.lost() {
		fmt.Fprintln(&w.out, "looks for", lost)
	}
}

// known is a pod as the controller knows it, or one that is not there.
func (w *world) known(name string) *corev1.Pod {
	if known := w.pods[name]; known != nil {
		return known
	}
	return pod(name)
}

// writes plays a write of the controller.
//
//	create POD… [claims=a,b] [controlled]   with n=N, as many of the name
//	delete POD… [update]
//	patch POD [kind=KIND] [label] [condition] [image] [resize] [throughout]
//	write POD                               a label
//	find RESOURCE NAME [shown|unknown]      looks whether a write was made, if the cache shows it or cannot tell
//	finalizers NAME…
//	own-claim NAME                          gives it an owner
//	change-claim NAME UID…                  gives it these owners
//	prepare [create=NAME] [missing=NAME] [raise=NAME] [no-selector], adopt-revisions NAME…, delete-revisions NAME…
func (w *world) writes(s step) bool {
	ctx := w.t.Context()
	var err error
	switch s.name {
	case "create":
		err = w.createPods(w.creations(s)...)
	case "delete":
		action := map[bool]Action{true: Recreate, false: Delete}[s.has("update")]
		err = Each(ctx, slices.DeleteFunc(slices.Clone(s.words), func(word string) bool { return word == "update" }), func(ctx context.Context, name string) error {
			_, err := w.DeletePod(ctx, w.known(name), action)
			return err
		})
	case "patch":
		patch := w.patch(s)
		err = w.PatchPods(ctx, []rollout.PodPatch{patch})
		if resize := (*rollout.ResizeError)(nil); errors.As(err, &resize) {
			fmt.Fprintf(&w.out, "of the resize: begun %t, unsupported %t, left with %d conditions\n",
				resize.Begun, resize.Unsupported, len(asLeft(&patch, err).Status.Conditions))
		}
	case "write":
		writes, writesErr := label("a", "b").Writes(w.known(s.words[0]))
		w.must(writesErr)
		err = w.WritePod(ctx, w.known(s.words[0]), writes[0], "the mark")
	case "find":
		version, gone, failed := w.live().Find(ctx, podwright.Resource(s.words[0]), "shop", s.words[1], func() (bool, error) {
			return s.has("shown"), map[bool]error{true: errLost}[s.has("unknown")]
		})
		fmt.Fprintf(&w.out, "found %t, gone %t\n", version != "", gone)
		err = failed
	case "finalizers":
		err = w.WriteFinalizers(ctx, s.words)
		fmt.Fprintln(&w.out, "the set is gone:", w.Gone)
	case "own-claim":
		c := w.claims[s.words[0]]
		err = w.PatchClaim(ctx, c, fmt.Appendf(nil, `{"metadata":{"uid":%q,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web-0","uid":"u"}]}}`, c.UID))
	case "change-claim":
		err = w.ChangeClaim(ctx, w.claimPatch(s.words[0], s.words[1:]...))
	case "prepare":
		err = w.prepare(s)
	case "adopt-revisions":
		err = w.AdoptRevisions(ctx, w.knownRevisions(s.words), owner("set"))
	case "delete-revisions":
		err = w.DeleteRevisions(ctx, w.knownRevisions(s.words))
	default:
		return false
	}
	w.came(err)
	return true
}

func (w *world) creations(s step) (creations []rollout.PodCreation) {
	n := 1
	fmt.Sscan(s.values["n"], &n)
	for i := range n {
		c := rollout.PodCreation{Pod: pod(s.words[0])}
		if n > 1 {
			c.Pod.Name = fmt.Sprintf("%s-%d", s.words[0], i)
		}
		for _, name := range s.list("claims") {
			created := claim(name)
			if s.has("controlled") {
				created.OwnerReferences = controlled()
			}
			c.Claims = append(c.Claims, created)
		}
		creations = append(creations, c)
	}
	return creations
}

func (w *world) patch(s step) rollout.PodPatch {
	patch := &podpatch.Patch{IfUnchanged: s.has("throughout"), Throughout: s.has("throughout")}
	if s.has("resize") {
		patch.SetResources("main", corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}})
	}
	if s.has("label") {
		patch.SetLabel("a", "b")
	}
	if s.has("condition") {
		patch.SetCondition(corev1.PodCondition{Type: "A", Status: "False"})
	}
	if s.has("image") {
		patch.SetImage("main", "nginx:2")
	}
	return rollout.PodPatch{Pod: w.known(s.words[0]), Patch: patch, Kind: rollout.PatchKind(s.values["kind"])}
}

func (w *world) claimPatch(name string, owners ...string) rollout.ClaimPatch {
	patch := rollout.ClaimPatch{Claim: w.claims[name]}
	for _, uid := range owners {
		patch.Owners = append(patch.Owners, owner(types.UID(uid)))
	}
	return patch
}

func (w *world) knownRevisions(names []string) (known []*appsv1.ControllerRevision) {
	for _, name := range names {
		known = append(known, w.revisions[name])
	}
	return known
}

func (w *world) prepare(s step) error {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	if s.has("no-selector") {
		selector = nil
	}
	changes := &revision.Changes{Missing: s.values["missing"], Raise: w.revisions[s.values["raise"]], RaiseTo: 7}
	if name := s.values["create"]; name != "" {
		changes.Create = history(name, "nginx:2")
	}
	state, err := w.PrepareRevisions(w.t.Context(), changes, selector, sameTemplate)
	fmt.Fprintln(&w.out, map[RevisionState]string{Unsettled: "unsettled", Settled: "settled", Collided: "collided"}[state])
	return err
}

// show shows what there is.
func (w *world) show(s step) bool {
	ctx := w.t.Context()
	owners := func(o metav1.Object) (uids []string) {
		for _, r := range o.GetOwnerReferences() {
			uids = append(uids, string(r.UID))
		}
		slices.Sort(uids)
		return uids
	}
	switch s.name {
	case "set":
		var set v1beta1.StatefulSet
		if err := w.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(ctx).Into(&set); apierrors.IsNotFound(err) {
			fmt.Fprintln(&w.out, "no set")
			return true
		}
		fmt.Fprintf(&w.out, "%d pods, %d collisions, finalizers %v\n", set.Status.Replicas, ptr.Deref(set.Status.CollisionCount, 0), set.Finalizers)
		for _, c := range set.Status.Conditions {
			fmt.Fprintf(&w.out, "condition %s: %s\n", c.Type, c.Message)
		}
	case "claims":
		list, err := w.user.CoreV1().PersistentVolumeClaims("shop").List(ctx, metav1.ListOptions{})
		w.must(err)
		for i := range list.Items {
			fmt.Fprintln(&w.out, list.Items[i].Name, "owners", owners(&list.Items[i]))
		}
	case "revisions":
		list, err := w.user.AppsV1().ControllerRevisions("shop").List(ctx, metav1.ListOptions{})
		w.must(err)
		for i := range list.Items {
			fmt.Fprintln(&w.out, list.Items[i].Name, "revision", list.Items[i].Revision, "owners", owners(&list.Items[i]))
		}
	case "refused":
		all := slices.SortedFunc(maps.Values(w.pods), func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		for _, pod := range all {
			if w.Refused(w.set, all, w.a.Now).Pods[pod.UID] != nil {
				fmt.Fprintln(&w.out, "refused:", pod.Name)
			}
		}
	default:
		return false
	}
	return true
}
