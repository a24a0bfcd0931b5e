package app

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

// setUpLogging makes the process log as the command line says. It returns what
// flushes the log.
func setUpLogging(c command, to io.Writer) (func(), error) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", strconv.Itoa(c.Verbosity)); err != nil {
		return nil, err
	}
	if c.LogFormat == "json" {
		handler := slog.NewJSONHandler(to, &slog.HandlerOptions{Level: slog.Level(-c.Verbosity)})
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
