// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/nodeagent"
)

// container returns a running container of a pod.
func container(pod, name string) fakecri.Container {
	return fakecri.Container{Status: &criv1.ContainerStatus{
		Metadata: &criv1.ContainerMetadata{Name: name},
		Labels:   map[string]string{nodeagent.PodUIDLabel: pod, nodeagent.ContainerNameLabel: name},
	}}
}

// caller is a runtime, and how long its answers take.
type caller struct {
	grpc.ClientConnInterface
	fake  *fakecri.Runtime
	takes time.Duration
}

// Invoke is a call of the runtime.
func (c *caller) Invoke(ctx context.Context, method string, arguments, answer any, options ...grpc.CallOption) error {
	select {
	case <-time.After(c.takes):
		return c.ClientConnInterface.Invoke(ctx, method, arguments, answer, options...)
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// TestCalls shows in testdata/calls.txt what calls of a runtime give, for how long they are waited for, and what the runtime is asked:
//
//	begin                      a runtime that has the container main-1 of the pod uid, which takes an hour to end, main-2 of another, which ends at once, an
//	                           image and a sandbox
//	slow 9s                    answers take so long from now on
//	fails StopContainer Unknown [ends|removes]
//	                           the method fails from now on with the text that follows, after it has ended or removed the container main-2
//	connect                    the others are methods of nodeagent.Runtime
func TestCalls(t *testing.T) {
	c := &caller{}
	datadriven.RunTest(t, "testdata/calls.txt", func(t *testing.T, d *datadriven.TestData) (out string) {
		var words []string
		for _, arg := range d.CmdArgs {
			words = append(words, arg.String())
		}
		switch d.Cmd {
		case "begin":
			c.begin()
		case "slow":
			c.takes = patches.Duration(t, words[0])
		case "fails":
			c.fails(words, strings.ReplaceAll(d.Input, "LONG", strings.Repeat("ü", 2000)))
		default:
			synctest.Test(t, func(t *testing.T) { out = c.called(t, d.Cmd, words) })
		}
		return out
	})
}

func (c *caller) begin() {
	*c = caller{fake: fakecri.New(nil)}
	c.ClientConnInterface = c.fake.Conn()
	slow := container("uid", "main")
	slow.EndsAfter = time.Hour
	c.fake.Create(slow)
	c.fake.Create(container("another", "main"))
	c.fake.AddSandbox(&criv1.PodSandboxStatus{Id: "box", Network: &criv1.PodSandboxNetworkStatus{Ip: "10.0.0.7"}})
	c.fake.AddImage(&criv1.Image{Id: "sha256:1", RepoTags: []string{"docker.io/library/nginx:1"}})
	c.fake.Command = func(ctx context.Context, _ fakecri.Container, _ []string) (*criv1.ExecSyncResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func (c *caller) fails(words []string, text string) {
	code := map[string]codes.Code{"Unknown": codes.Unknown, "NotFound": codes.NotFound, "DeadlineExceeded": codes.DeadlineExceeded, "Unimplemented": codes.Unimplemented}[words[1]]
	c.fake.FailWith(func(method string) error {
		if method != words[0] {
			return nil
		}
		switch strings.Join(words[2:], "") {
		case "ends":
			c.fake.End("main-2", 143)
		case "removes":
			c.fake.Remove("main-2")
		}
		return status.Error(code, text)
	})
}

// many are letters of an error that is long.
var many = regexp.MustCompile(`ü{9,}`)

// called shows a call.
func (c *caller) called(t *testing.T, command string, words []string) string {
	start, of := time.Now(), append(words, "", "")
	got, err := c.call(t, command, of)
	out := cmp.Or(got, "done") + "\n"
	if err != nil {
		if text := err.Error(); len(text) > 1200 || !utf8.ValidString(text) {
			t.Errorf("%d bytes: %s", len(text), text)
		}
		out = fmt.Sprintf("error, not found %t, unavailable %t: %s\n", nodeagent.NotFound(err), nodeagent.Unavailable(err),
			many.ReplaceAllStringFunc(err.Error(), func(all string) string { return fmt.Sprint("ü × ", len(all)/2) }))
	}
	if took := time.Since(start); took > 0 {
		out += fmt.Sprintf("took %s\n", took)
	}
	return out + strings.Join(c.fake.Calls(), ", ") + "\n"
}

func (c *caller) call(t *testing.T, command string, of []string) (string, error) {
	takes := c.takes
	c.takes = 0
	r, err := nodeagent.NewRuntime(t.Context(), c, "unix:///run/test.sock")
	if c.takes = takes; err != nil || command == "connect" {
		return "", err
	}
	c.fake.ForgetCalls()
	switch command {
	case "Containers":
		var names []string
		all, err := r.Containers(t.Context(), "uid")
		for _, one := range all {
			names = append(names, one.GetId())
		}
		return strings.Join(names, " "), err
	case "ContainerStatus":
		s, err := r.ContainerStatus(t.Context(), of[0], of[1] == "verbose")
		return fmt.Sprintf("%s, info %t", s.GetStatus().GetId(), s.GetInfo()["info"] != ""), err
	case "SandboxStatus":
		s, err := r.SandboxStatus(t.Context(), of[0])
		return s.GetNetwork().GetIp(), err
	case "Images":
		images, err := r.Images(t.Context())
		return fmt.Sprint(len(images), " images"), err
	case "Image":
		image, err := r.Image(t.Context(), of[0])
		return fmt.Sprint(image.GetId(), image.GetRepoTags(), ", none: ", image == nil), err
	case "PullImage":
		return r.PullImage(t.Context(), &criv1.PullImageRequest{Image: &criv1.ImageSpec{Image: of[0]}})
	case "Exec":
		_, err := r.Exec(t.Context(), of[0], []string{"sleep", "60"}, patches.Duration(t, of[1]))
		return "", err
	case "StopContainer":
		return "", r.StopContainer(t.Context(), of[0], patches.Duration(t, of[1]))
	}
	return "", r.Check(t.Context())
}
