package process

import (
	"flag"
	"io"
	"log"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"k8s.io/klog/v2"
)

// SetUpLogging makes the process log in a format, "text" or "json", with a
// verbosity: 0 for what an operator wants to know, 2 for what is done, 4 and more
// for debugging. It returns what flushes the log.
func SetUpLogging(format string, verbosity int, to io.Writer) (flush func(), err error) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", strconv.Itoa(verbosity)); err != nil {
		return nil, err
	}
	if format == "json" {
		handler := slog.NewJSONHandler(to, &slog.HandlerOptions{Level: slog.Level(-verbosity)})
		klog.SetSlogLogger(slog.New(handler))
		return klog.Flush, nil
	}
	if to != os.Stderr {
		klog.LogToStderr(false)
		klog.SetOutput(to)
	}
	return klog.Flush, nil
}

// errorLog leads what net/http logs, which is mostly the noise of broken
// connections, to the log for debugging.
func errorLog(logger klog.Logger) *log.Logger {
	return log.New(lines(func(line string) { logger.V(2).Info(line) }), "", 0)
}

// lines is an io.Writer that passes text on.
type lines func(string)

func (l lines) Write(p []byte) (int, error) {
	l(strings.TrimSpace(string(p)))
	return len(p), nil
}
