package main

import (
	"context"
	"encoding/json"
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
	d.screen.Print(suggestions(d.kind, d.place, findKubectl())...)
	last := d.view(d.observer.state(), "", 0)
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); errors.Is(cause, errManagerEnded) {
				return cause
			}
			return nil
		case <-d.observer.changed:
		}
		s := d.observer.state()
		if s == nil {
			continue
		}
		v := newView(s)
		if !reflect.DeepEqual(v.Rows, last.Rows) || !reflect.DeepEqual(v.Notes, last.Notes) {
			last = v
			v.Step = fmt.Sprintf("now  %s %s/%s", d.kind.name, s.object.GetNamespace(), s.object.GetName())
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

// hint is a change to try, and what it does.
type hint struct {
	what   string
	change change
}

// suggestions are the commands to try.
func suggestions(kind *kind, p *place, k kubectl) []display.Line {
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
		{Text: "Commands to try in another terminal; what they do is shown here:", Style: display.Title},
	}
	if k.remark != "" {
		out = append(out, display.Line{Text: k.remark})
	}
	number := 0
	try := func(what, arguments string) {
		number++
		out = append(out, display.Line{}, display.Line{Text: fmt.Sprintf("%d. %s", number, what)},
			display.Line{Text: "  " + prefix + " \\", Style: display.Verbatim}, display.Line{Text: "    " + arguments, Style: display.Verbatim})
	}
	try("Roll out an image that does not exist: two pods break, the others are safe.", kind.patch(setImage(badImage)))
	try("Roll back: only the two broken pods are changed.", kind.patch(setImage(newImage)))
	try("Scale out.", fmt.Sprintf("scale %s %s --replicas=12", kind.kubectl, setName))
	for _, h := range kind.more {
		try(h.what, kind.patch(h.change))
	}
	return append(out, display.Line{})
}

// patch returns the arguments with which kubectl makes a change.
func (k *kind) patch(c change) string {
	patch, _ := json.Marshal([]change{c}) // text and numbers: it cannot fail
	return fmt.Sprintf("patch %s %s --type=json -p '%s'", k.kubectl, setName, patch)
}

// quote makes one word of text for a shell.
func quote(text string) string {
	if strings.ContainsAny(text, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
