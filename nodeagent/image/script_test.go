// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestStories plays what a node is asked to pull: see agents.PlayStories. Shown is the status of the NodeImage, and pulls
// that the runtime was asked for. Times count from the start of the story.
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
//	pulls 5m [a:1]           how long pulls take from now on, or those of an image alone; "pulls fail", "pulls hang", "pulls refused"
//	                         (by the runtime, just before their deadline)
//	only-fails a:1           has the pulls of an image fail
//	under-way                tells how many pulls are
//	on-node c 1              has the runtime have an image, perhaps by its digest
//	fail-secrets away        has the API server not show secrets, or "forbidden"
//	patch                    changes the NodeImage's status as the manager does
//	untold                   pulls are shown no more: how many there are is not the matter
//	generations              shows from now on when the agent has not seen the newest generation
//	label, delete, create    changes its labels, deletes it, and creates it again
func TestStories(t *testing.T) {
	agents.PlayStories(t, "testdata/stories", func(t *testing.T) *agents.Story {
		p := newPlayer(asking()(t))
		return &agents.Story{Node: p.Node, Show: p.show, Calls: p.calls, Further: p.further(), Unordered: func() bool { return true },
			Start: func(workers int) {
				p.options.Concurrency = workers
				p.start()
				p.Sleep(time.Second)
			}}
	})
}

// player is a node whose pulls are told.
type player struct {
	*node
	takes map[string]time.Duration // by image, and by "" for others
	how   string                   // fail, hang or refused; otherwise pulls succeed
	began time.Time
	lock  sync.Mutex
	pulls []string
	// untold has no pulls shown. generations has those shown that the agent has not seen.
	untold, generations bool
	// only is for whom the runtime pulls; empty: for all. locked says who is locked.
	only   string
	locked bool
	// fails is an image that cannot be pulled.
	fails  string
	clouds clouds
}

func newPlayer(n *node) *player {
	p := &player{node: n, takes: map[string]time.Duration{}, began: time.Now()}
	p.Runtime.Pull = p.pull
	return p
}

// tell tells something of an image.
func (p *player) tell(format string, args ...any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.pulls = append(p.pulls, fmt.Sprintf(format, args...))
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

// show shows the status of the NodeImage.
func (p *player) show() (lines []string) {
	if of, err := p.images.Get(p.Context(), p.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		p.Must(err)
		if lines = shown(&of.Status); p.generations {
			lines = append(lines, fmt.Sprintf("generation %d, the agent has seen %d", of.Generation, of.Status.ObservedGeneration))
		}
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], p.began.UTC().Format(time.RFC3339), "the beginning")
	}
	if p.options.NodeImages != nil && len(p.options.NodeImages.GetStore().ListKeys()) > 1 {
		p.Error("IMG-3.1: the agent watches the NodeImage of another node")
	}
	for _, r := range p.Server.Requests(p.User()) {
		feed := r.Verb == "list" || r.Verb == "watch"
		if feed && r.Resource != "nodeimages" || r.Resource == "secrets" && r.Verb != "get" || r.Resource == "nodeimages" && !feed && r.Name != p.Name {
			p.Errorf("IMG-3.1, IMG-3.2: request %s %s %s", r.Verb, r.Resource, r.Name)
		}
	}
	return lines
}

// calls shows pulls, by image, and for which credentials were asked.
func (p *player) calls([]string) []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	pulls := p.pulls
	if p.pulls = nil; p.untold {
		pulls = nil
	}
	slices.SortStableFunc(pulls, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) })
	asked := p.clouds.asked
	p.clouds.asked = nil
	return append(pulls, asked...)
}

// further are the commands that NodeImages, pulls and secrets have.
func (p *player) further() map[string]func(words []string, text string) {
	all := map[string]func([]string, string){
		"want": func(words []string, _ string) { p.edit(wants(words[0], words[1], words[2:]...)) },
		"again": func(words []string, _ string) {
			p.edit(func(n *v1alpha1.NodeImage) { n.Spec.Images[words[0]].Tags[0].Version++ })
		},
		"no": func(words []string, _ string) {
			p.edit(func(n *v1alpha1.NodeImage) { delete(n.Spec.Images, words[0]) })
		},
		"edit": func(_ []string, text string) { p.edit(func(n *v1alpha1.NodeImage) { patches.Merge(p.T, n, text) }) },
		"under-way": func([]string, string) {
			p.tell("%d pulls are under way", len(controller.KindOf(p.agent).Self.(*reconciler).pulls.list()))
		},
		"pulls": func(words []string, _ string) {
			if p.how = words[0]; strings.ContainsAny(p.how, "0123456789") {
				p.takes[strings.Join(words[1:], "")], p.how = patches.Duration(p.T, words[0]), ""
			}
		},
		"on-node": func(words []string, _ string) {
			image := &criv1.Image{Id: "cc"}
			if len(words) > 1 {
				image.RepoTags = []string{"docker.io/library/" + words[0] + ":" + words[1]}
			} else {
				image.RepoDigests = []string{"docker.io/library/" + words[0]}
			}
			p.Runtime.AddImage(image)
		},
		"only-fails":  func(words []string, _ string) { p.fails = words[0] },
		"only":        func(words []string, _ string) { p.only = words[0] },
		"locked":      func([]string, string) { p.locked = true },
		"untold":      func([]string, string) { p.untold = true },
		"generations": func([]string, string) { p.generations = true },
		"patch": func(_ []string, text string) {
			_, err := p.images.Patch(p.Context(), p.Name, types.MergePatchType, []byte(text), metav1.PatchOptions{}, "status")
			p.Must(err)
		},
		"label": func([]string, string) {
			p.edit(func(nodeImage *v1alpha1.NodeImage) { nodeImage.Labels = map[string]string{"zone": "a"} })
		},
		"create": func([]string, string) { p.create(p.Name) },
		"delete": func([]string, string) {
			p.Must(p.images.Delete(p.Context(), p.Name, metav1.DeleteOptions{}))
			p.Sleep(time.Second)
		},
	}
	for command, do := range p.aboutSecrets() {
		all[command] = do
	}
	return all
}
