package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/podwright/podwright/examples/evaluate/display"
)

// stay keeps everything up until the context is done, offers commands to try,
// and shows what they do. It returns an error when the manager ends before.
func (d *demo) stay(ctx context.Context) error {
	d.screen.Print(suggestions(d.place, findKubectl())...)
	last := d.view(d.observer.snapshot(), "", 0)
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); errors.Is(cause, errManagerEnded) {
				return cause
			}
			return nil
		case <-d.observer.changed:
		}
		s := d.observer.snapshot()
		if s == nil {
			continue
		}
		v := newView(s)
		if !reflect.DeepEqual(v.Rows, last.Rows) || !reflect.DeepEqual(v.Notes, last.Notes) {
			last = v
			v.Step = fmt.Sprintf("now  CloneSet %s/%s", s.Set.Namespace, s.Set.Name)
			d.screen.Draw(v)
		}
	}
}

// kubectl is how to run it, and what to say about it before.
type kubectl struct{ command, remark string }

// findKubectl takes the one that is installed, or else the one of the module.
func findKubectl() kubectl {
	if _, err := exec.LookPath("kubectl"); err == nil {
		return kubectl{command: "kubectl"}
	}
	command := "go tool kubectl"
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		command = "go -C " + quote(filepath.Dir(filepath.Dir(file))) + " tool kubectl"
	}
	return kubectl{command, "kubectl is not on the PATH: the go command builds one, which takes a minute the first time."}
}

// suggestions are the commands to try.
func suggestions(p *place, k kubectl) []display.Line {
	prefix := k.command + " --kubeconfig " + quote(p.kubeconfig)
	if len(filepath.SplitList(p.kubeconfig)) > 1 { // the flag takes one file only
		prefix = "KUBECONFIG=" + quote(p.kubeconfig) + " " + k.command
	}
	if p.namespace != "default" {
		prefix += " -n " + p.namespace
	}
	out := []display.Line{
		{},
		{Text: "Everything stays up until Ctrl-C. Kubeconfig and logs:"},
		{Text: "  " + p.kubeconfig, Style: display.Verbatim},
		{Text: "  " + filepath.Join(p.dir, "*.log"), Style: display.Verbatim},
		{},
		{Text: "Three commands to try in another terminal; what they do is shown here:", Style: display.Title},
	}
	if k.remark != "" {
		out = append(out, display.Line{Text: k.remark})
	}
	for _, s := range []struct{ what, arguments string }{
		{"1. Roll out an image that does not exist: two pods break, the others are safe.", patchImage(badImage)},
		{"2. Roll back: only the two broken pods are changed.", patchImage(newImage)},
		{"3. Scale out.", fmt.Sprintf("scale cloneset %s --replicas=12", setName)},
	} {
		out = append(out, display.Line{}, display.Line{Text: s.what}, display.Line{Text: "  " + prefix + " \\", Style: display.Verbatim},
			display.Line{Text: "    " + s.arguments, Style: display.Verbatim})
	}
	return append(out, display.Line{})
}

func patchImage(image string) string {
	return fmt.Sprintf(`patch cloneset %s --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"%s"}]'`, setName, image)
}

// quote makes one word of text for a shell.
func quote(text string) string {
	if strings.ContainsAny(text, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
