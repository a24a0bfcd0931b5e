// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays what a node is asked to pull, each file on a node of its own. Shown is the status of the NodeImage. Then come pulls
// that the runtime was asked for, requests of the agent, and events, since the last line. Times count from the start of the story. To
// accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	want nginx 1             asks for an image, with words of testdata/words.yaml
//	asks 1.5.yaml            asks for what a manager of OpenKruise has asked for; "edit" merges what follows into the NodeImage
//	secrets web default/one  gives an image the copies of secrets, and "refer" these secrets themselves
//	copy default/one quay.io jane
//	                         creates the copy of a secret, with a user for a registry; "secret" creates it under its own name, perhaps as a copy
//	                         of=default/one, and "no-copy" deletes it
//	only jane                lets the runtime pull for one user alone, or for "none"; "locked" says of all users that they are locked
//	option read-source-secrets, docker-config, credentials
//	                         has the agent read secrets of other namespaces, or have the user node for quay.io; or for cloud.example, asked for
//	again nginx              asks for another version of it, and "no nginx" for it no more
//	start [concurrency=1]    starts the agent, and lets a second pass; "stop" stops it
//	sleep 10s                lets time pass
//	pulls 5m [a:1]           how long pulls take from now on, or those of an image alone; "pulls fail", "pulls hang", "pulls refused"
//	                         (by the runtime, just before their deadline)
//	only-fails a:1           has the pulls of an image fail
//	under-way                tells how many pulls are
//	on-node c 1              has the runtime have an image
//	down, up                 has the runtime be away, and back
//	fail-writes, heal        has the API server refuse what the agent sends; "lose" loses one answer; "fail-secrets away" or "forbidden" fails to show them
//	hold, release            what the cache sees
//	patch                    changes the NodeImage's status as the manager does
//	uncounted, untold        requests, and pulls, are shown no more: how many there are is for goroutines to decide, or is not the matter
//	generations              shows from now on when the agent has not seen the newest generation
//	label, delete            changes its labels, and deletes it
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		play(t, func(n *node) {
			began := time.Now()
			p := &player{node: n, takes: map[string]time.Duration{}, began: began}
			n.runtime.Pull = p.pull
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				var args []string
				for _, a := range d.CmdArgs {
					args = append(args, a.String())
				}
				p.do(d, args)
				return p.show()
			})
		})
	})
}

// player is a node whose pulls are told.
type player struct {
	*node
	takes map[string]time.Duration // by image, and by "" for others
	how   string                   // fail, hang or refused; otherwise pulls succeed
	began time.Time
	lock  sync.Mutex
	told  []string
	// uncounted has no requests shown, untold no pulls. generations has those shown that the agent has not seen.
	uncounted, untold, generations bool
	// only is for whom the runtime pulls; empty: for all. locked says who is locked.
	only   string
	locked bool
	// fails is an image that cannot be pulled.
	fails  string
	clouds clouds
}

func (p *player) tell(format string, args ...any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.told = append(p.told, fmt.Sprintf(format, args...))
}

// pull is what the runtime does.
func (p *player) pull(ctx context.Context, request *criv1.PullImageRequest) error {
	image, user := request.GetImage().GetImage(), request.GetAuth().GetUsername()
	p.tell("pull %s after %s%s", image, time.Since(p.began).Truncate(time.Second), with(request))
	switch {
	case p.only != "" && user != strings.TrimSuffix(p.only, "none"):
		return errors.New("unauthorized: " + user)
	case image == p.fails:
		return errors.New("no route")
	case p.locked:
		return errors.New(`Get "https://quay.io/v2/?account=` + user + `": user ` + user + ` is locked`)
	}
	switch p.how {
	case "fail":
		return errors.New("manifest unknown")
	case "refused":
		deadline, _ := ctx.Deadline()
		time.Sleep(time.Until(deadline) - time.Millisecond)
		return status.Error(codes.DeadlineExceeded, "canceled")
	case "hang":
		<-ctx.Done()
		p.tell("pull %s ends after %s", image, time.Since(p.began).Truncate(time.Second))
		return ctx.Err()
	}
	takes, own := p.takes[image]
	if !own {
		takes = p.takes[""]
	}
	select {
	case <-time.After(takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// with tells as whom an image is pulled, and for which sandbox.
func with(request *criv1.PullImageRequest) (out string) {
	if auth := request.GetAuth(); auth != nil {
		out += " as " + auth.GetUsername()
	}
	if sandbox := request.GetSandboxConfig(); sandbox != nil {
		out += fmt.Sprintf(" for a sandbox with labels %v, annotations %v, metadata %v", sandbox.GetLabels(), sandbox.GetAnnotations(), sandbox.GetMetadata())
	}
	return out
}

// show shows what there is, and what has happened since the last time.
func (p *player) show() string {
	var lines []string
	if list, err := p.images.List(p.Context(), metav1.ListOptions{}); err == nil && len(list.Items) > 0 {
		lines = shown(&list.Items[0].Status)
	}
	if list, err := p.images.List(p.Context(), metav1.ListOptions{}); err == nil && p.generations {
		of := &list.Items[0]
		lines = append(lines, fmt.Sprintf("generation %d, the agent has seen %d", of.Generation, of.Status.ObservedGeneration))
	}
	if !p.untold {
		slices.SortStableFunc(p.told, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) }) // by image
		lines = append(lines, p.told...)
	}
	p.told = nil
	for _, request := range p.Server.Requests(p.user()) {
		if request.Resource == "secrets" && request.Verb != "get" {
			p.Errorf("IMG-3.2: %s secrets", request.Verb)
		}
	}
	lines = append(lines, p.clouds.take()...)
	if sent := p.Sent(p.user()); !p.uncounted {
		lines = append(lines, sent...)
	}
	lines = append(lines, sorted(p.events.All())...)
	p.events.Forget()
	text := strings.Join(lines, "\n") + "\n"
	return strings.ReplaceAll(text, p.began.UTC().Format(time.RFC3339), "the beginning")
}

// do does what a line of a script says.
func (p *player) do(d *datadriven.TestData, args []string) {
	p.Helper()
	switch d.Cmd {
	case "want":
		p.edit(wants(args[0], args[1], args[2:]...))
	case "again":
		p.edit(again(args[0]))
	case "no":
		p.edit(no(args[0]))
	case "start":
		for _, arg := range args {
			n, err := strconv.Atoi(strings.TrimPrefix(arg, "concurrency="))
			p.Must(err)
			p.options.Concurrency = n
		}
		p.start()
		p.Sleep(time.Second)
	case "stop":
		p.Stop()
	case "under-way":
		p.tell("%d pulls are under way", len(controller.KindOf(p.agent).Self.(*reconciler).pulls.list()))
	case "sleep":
		p.Sleep(p.duration(args[0]))
	case "pulls":
		if p.how = args[0]; strings.ContainsAny(p.how, "0123456789") {
			p.takes[strings.Join(args[1:], "")], p.how = p.duration(args[0]), ""
		}
	case "on-node":
		p.runtime.AddImage(&criv1.Image{Id: "cc", RepoTags: []string{"docker.io/library/" + args[0] + ":" + args[1]}})
	case "down", "up":
		p.runtime.SetDown(d.Cmd == "down")
	case "fail-writes":
		p.Server.FailBefore(func(r fakecluster.Request) error {
			if r.User == p.user() {
				return fixture.ErrInternal
			}
			return nil
		})
	case "heal":
		p.Server.FailBefore(nil)
	case "lose":
		fail, _ := fixture.Once(func(r fakecluster.Request) error {
			if r.User == p.user() && r.Verb == "patch" {
				return fixture.ErrLost
			}
			return nil
		})
		p.Server.FailAfter(fail)
	case "only-fails":
		p.fails = args[0]
	case "uncounted":
		p.uncounted = true
	case "untold":
		p.untold = true
	case "generations":
		p.generations = true
	case "hold":
		p.Server.Hold("nodeimages")
	case "release":
		p.Server.Release("nodeimages")
	case "patch":
		p.patchStatus(d.Input)
	case "label":
		p.edit(func(nodeImage *v1alpha1.NodeImage) { nodeImage.Labels = map[string]string{"zone": "a"} })
	case "create":
		p.create()
	case "delete":
		p.Must(p.images.Delete(p.Context(), p.name, metav1.DeleteOptions{}))
		p.Sleep(time.Second)
	default:
		p.doAboutSecrets(d, args)
	}
}

func (p *player) duration(text string) time.Duration {
	p.Helper()
	d, err := time.ParseDuration(text)
	p.Must(err)
	return d
}
