"""What people start inside an environment, as their pages tell them to: `programs.py tensorboard | gradio | streamlit`."""
import pathlib
import subprocess
import sys

STREAMLIT = """import streamlit as st
name = st.text_input("Name")
st.write(f"Hello {name}!")
file = st.file_uploader("File")
if file:
    st.write(f"{file.name} has {len(file.getvalue())} bytes")
"""


def tensorboard():
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter("logs")
    for step in range(10):
        value = Summary.Value(tag="loss-of-the-proof", simple_value=1 / (step + 1))
        writer.add_event(Event(step=step, wall_time=1e9 + step, summary=Summary(value=[value])))
    writer.close()
    run("-m", "tensorboard.main", "--logdir", "logs", "--port", "6006")


def gradio():
    import time

    import gradio as gr

    def count(name):
        for number in range(1, 4):
            time.sleep(0.3)
            yield f"Hello {name} {number}"

    with gr.Blocks() as demo:
        name = gr.Textbox(label="Name")
        greeting = gr.Textbox(label="Greeting")
        gr.Button("Greet").click(count, name, greeting)
        file = gr.File(label="File")
        size = gr.Textbox(label="Size")
        file.upload(lambda path: f"{pathlib.Path(path).stat().st_size} bytes", file, size)
    demo.launch(server_port=7860)


def streamlit():
    pathlib.Path("app.py").write_text(STREAMLIT)
    run("-m", "streamlit", "run", "app.py", "--server.port", "8501", "--server.headless", "true")


def run(*words):
    subprocess.run([sys.executable, *words], check=True)


globals()[sys.argv[1]]()
